import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

// A pair of ONNX models with the names, shapes and value ranges of TrustMark's variant Q, whose weights are not free to download here.
// Each bit is the sign of one cosine pattern of the image's blue against its red and green. The encoder changes the pattern only as far as
// its sign needs, so the image's own colours do not disturb the bits.

const SIDE = 256
const BITS = 100
/** Half periods of the patterns per side. */
const LOWEST = 12
const FREQUENCIES = 20
/** Amplitude of each pattern, of -1 to 1. */
const AMPLITUDE = 0.0045

interface TinyMark {
  /** Permutes the bits: an encoder and a decoder of different orders do not understand each other. */
  readonly order?: number
  readonly decoderOrder?: number
  readonly amplitude?: number
  readonly variant?: string
  /** Of the square that the decoder takes. */
  readonly decoderSide?: number
}

/** Writes `encoder_Q.onnx` and `decoder_Q.onnx`. */
export async function writeTinyMark(
  folder: string,
  { order = 1, decoderOrder = order, amplitude = AMPLITUDE, variant = 'Q', decoderSide = SIDE }: TinyMark = {},
): Promise<void> {
  await writeFile(join(folder, `encoder_${variant}.onnx`), encoderOf(order, amplitude))
  await writeFile(join(folder, `decoder_${variant}.onnx`), decoderOf(decoderOrder, decoderSide))
}

/** FREQUENCIES × side. */
function cosinesOf(side: number): Float32Array {
  return Float32Array.from({ length: FREQUENCIES * side }, (_, i) =>
    Math.cos((Math.PI * (LOWEST + Math.floor(i / side)) * ((i % side) + 0.5)) / side),
  )
}

/** side × FREQUENCIES. */
function transpose(cosines: Float32Array): Float32Array {
  const side = cosines.length / FREQUENCIES
  return cosines.map((_, i) => cosines[(i % FREQUENCIES) * side + Math.floor(i / FREQUENCIES)])
}

/** Which pattern each bit has: FREQUENCIES² × BITS of 0 and 1. Neighbours are two frequencies apart. */
function selectionOf(order: number): Float32Array {
  const patterns = Array.from({ length: FREQUENCIES ** 2 }, (_, i) => i).filter(
    (i) => (Math.floor(i / FREQUENCIES) + (i % FREQUENCIES)) % 4 === 0,
  )
  const selection = new Float32Array(FREQUENCIES ** 2 * BITS)
  for (let bit = 0; bit < BITS; bit++) selection[patterns[(bit * 37 * order) % BITS] * BITS + bit] = 1
  return selection
}

function encoderOf(order: number, amplitude: number): Uint8Array {
  const selection = selectionOf(order)
  const back = Float32Array.from(
    { length: selection.length },
    (_, i) => selection[(i % FREQUENCIES ** 2) * BITS + Math.floor(i / FREQUENCIES ** 2)],
  )
  return modelOf({
    inputs: [
      ['onnx::Concat_0', [1, 3, SIDE, SIDE]],
      ['onnx::Gemm_1', [1, BITS]],
    ],
    output: ['image', [1, 3, SIDE, SIDE]],
    constants: [
      ...projection(selection, SIDE),
      ['back', [BITS, FREQUENCIES ** 2], back],
      ['blue', [1, 3, 1, 1], Float32Array.of(0, 0, 1)],
      ['two', [1], Float32Array.of(2)],
      ['one', [1], Float32Array.of(1)],
      ['amplitude', [1], Float32Array.of(amplitude)],
      ['grid', [4], [1, 1, FREQUENCIES, FREQUENCIES]],
    ],
    nodes: [
      ...project('onnx::Concat_0', 'levels'),
      ['Mul', ['onnx::Gemm_1', 'two'], 'doubled'],
      ['Sub', ['doubled', 'one'], 'signs'],
      ['Mul', ['levels', 'signs'], 'signed'],
      ['Sub', ['amplitude', 'signed'], 'missing'],
      ['Relu', ['missing'], 'needed'],
      ['Mul', ['needed', 'signs'], 'changes'],
      ['MatMul', ['changes', 'back'], 'placed'],
      ['Reshape', ['placed', 'grid'], 'placedGrid'],
      ['MatMul', ['transposed', 'placedGrid'], 'columns'],
      ['MatMul', ['columns', 'cosines'], 'residual'],
      ['Mul', ['residual', 'blue'], 'coloured'],
      ['Add', ['onnx::Concat_0', 'coloured'], 'image'],
    ],
  })
}

function decoderOf(order: number, side: number): Uint8Array {
  return modelOf({
    inputs: [['image', [1, 3, side, side]]],
    output: ['output', [1, BITS]],
    constants: projection(selectionOf(order), side),
    nodes: project('image', 'output'),
  })
}

function projection(selection: Float32Array, side: number): Constant[] {
  const cosines = cosinesOf(side)
  return [
    ['opponents', [1, 3, 1, 1], Float32Array.of(-0.5, -0.5, 1)],
    ['channel', [1], [1]],
    ['cosines', [FREQUENCIES, side], cosines],
    ['transposed', [side, FREQUENCIES], transpose(cosines)],
    // Of a projection on a pattern, for its amplitude.
    ['scale', [1], Float32Array.of(4 / side ** 2)],
    ['line', [2], [1, FREQUENCIES ** 2]],
    ['selection', [FREQUENCIES ** 2, BITS], selection],
  ]
}

/** The amplitude of each bit's pattern in an image. */
function project(image: string, output: string): Operator[] {
  return [
    ['Mul', [image, 'opponents'], 'weighted'],
    ['ReduceSum', ['weighted', 'channel'], 'opposed'],
    ['MatMul', ['cosines', 'opposed'], 'rows'],
    ['MatMul', ['rows', 'transposed'], 'projected'],
    ['Mul', ['projected', 'scale'], 'scaled'],
    ['Reshape', ['scaled', 'line'], 'flat'],
    ['MatMul', ['flat', 'selection'], output],
  ]
}

type Shaped = readonly [name: string, shape: readonly number[]]
/** Floats, or a list of int64. */
type Constant = readonly [name: string, shape: readonly number[], values: Float32Array | readonly number[]]
type Operator = readonly [type: string, inputs: readonly string[], output: string]

interface Graph {
  readonly inputs: readonly Shaped[]
  readonly output: Shaped
  readonly constants: readonly Constant[]
  readonly nodes: readonly Operator[]
}

const FLOAT = 1
const INT64 = 7

/** A ModelProto (onnx.proto) with opset 17. */
function modelOf({ inputs, output, constants, nodes }: Graph): Uint8Array {
  const graph = Buffer.concat([
    ...nodes.map(([type, from, to]) =>
      field(1, Buffer.concat([...from.map((name) => field(1, name)), field(2, to), field(4, type)])),
    ),
    field(2, 'mark'),
    ...constants.map(([name, shape, values]) => {
      const isFloat = values instanceof Float32Array
      const bytes = isFloat ? values.buffer : BigInt64Array.from(values, BigInt).buffer
      const tensor = [...shape.map((size) => number(1, size)), number(2, isFloat ? FLOAT : INT64), field(8, name)]
      return field(5, Buffer.concat([...tensor, field(9, Buffer.from(bytes))]))
    }),
    ...inputs.map((input) => field(11, valueInfoOf(input))),
    field(12, valueInfoOf(output)),
  ])
  return Buffer.concat([number(1, 8), field(7, graph), field(8, number(2, 17))])
}

function valueInfoOf([name, shape]: Shaped): Buffer {
  const sizes = Buffer.concat(shape.map((size) => field(1, number(1, size))))
  return Buffer.concat([field(1, name), field(2, field(1, Buffer.concat([number(1, FLOAT), field(2, sizes)])))])
}

function field(key: number, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content as string)
  return Buffer.concat([varint(key * 8 + 2), varint(bytes.length), bytes])
}

function number(key: number, value: number): Buffer {
  return Buffer.concat([varint(key * 8), varint(value)])
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (; value > 127; value = Math.floor(value / 128)) bytes.push((value % 128) + 128)
  return Buffer.from([...bytes, value])
}
