import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Bitmap } from '../../../api/shared/image/image.ts'
import { openSession, type Provider, type Session, type TensorShape } from '../../inference/session.ts'
import { MARK_BITS } from './payload.ts'

/** Side of the square that TrustMark's encoders take. */
export const ENCODER_SIDE = 256

/** A square of this side takes 13 MB. TrustMark's decoders take 224 or 256 px. */
const MAX_DECODER_SIDE = 1024

/** Encoder and decoder of one variant of TrustMark. */
export interface MarkModels {
  /** The letter in the names of the files: B, C, P or Q. */
  readonly variant: string
  /** Side of the square that the decoder takes. */
  readonly decoderSide: number
  /**
   * Marks a square. Pixels and result are 3 × `ENCODER_SIDE` × `ENCODER_SIDE`, -1 to 1; `bits` are 0 or 1.
   */
  encode(pixels: Float32Array, bits: Float32Array): Promise<Float32Array>
  /** Reads a square: one number per bit, positive for 1. Pixels are 3 × `decoderSide` × `decoderSide`, -1 to 1. */
  decode(pixels: Float32Array): Promise<Float32Array>
  release(): Promise<void>
}

const NAME = /^(encoder|decoder)_([A-Z])\.onnx$/

/**
 * Opens the ONNX files of the folder, which have the names that Adobe publishes them by: `encoder_Q.onnx` and `decoder_Q.onnx`, or
 * another letter.
 * @throws Error that names the folder or file and the problem
 */
export async function openMarkModels(
  folder: string,
  { provider = 'cpu' }: { provider?: Provider } = {},
): Promise<MarkModels> {
  const variant = await findVariant(folder)
  const encoderPath = join(folder, `encoder_${variant}.onnx`)
  const decoderPath = join(folder, `decoder_${variant}.onnx`)
  const encoder = await open(encoderPath, provider)
  try {
    const decoder = await open(decoderPath, provider)
    try {
      return toModels(variant, {
        encoder: matchEncoder(encoder, encoderPath),
        decoder: matchDecoder(decoder, decoderPath),
      })
    } catch (error) {
      await decoder.release()
      throw error
    }
  } catch (error) {
    await encoder.release()
    throw error
  }
}

async function findVariant(folder: string): Promise<string> {
  const names = await readdir(folder).catch((cause: unknown) => fail(folder, 'cannot be read', cause))
  const found = names.map((name) => NAME.exec(name)).filter((match) => match !== null)
  const [variant, ...others] = new Set(found.map(([, , letter]) => letter))
  if (variant === undefined || others.length > 0 || found.length !== 2)
    fail(folder, 'must contain an encoder and a decoder of one variant, for example encoder_Q.onnx and decoder_Q.onnx')
  return variant
}

async function open(path: string, provider: Provider): Promise<Session> {
  const bytes = await readFile(path).catch((cause: unknown) => fail(path, 'cannot be read', cause))
  return openSession(bytes, { provider, mayUseCpu: true }).catch((cause: Error) =>
    fail(path, `cannot be opened on ${provider}: ${cause.message}`, cause),
  )
}

interface NamedEncoder {
  readonly session: Session
  readonly image: string
  readonly bits: string
  readonly marked: string
}

/** Exports name the inputs after their operators, so shapes tell which is which. */
function matchEncoder(session: Session, path: string): NamedEncoder {
  const [image, bits, marked] = [
    findTensor(session.inputs, (shape) => isSquare(shape, ENCODER_SIDE)),
    findTensor(session.inputs, isBits),
    findTensor(session.outputs, (shape) => isSquare(shape, ENCODER_SIDE)),
  ]
  if (image && bits && marked) return { session, image: image.name, bits: bits.name, marked: marked.name }
  return fail(path, `must take an image 1×3×256×256 and 1×100 bits, and return an image; ${describe(session)}`)
}

interface NamedDecoder {
  readonly session: Session
  readonly image: string
  readonly side: number
  readonly output: string
}

function matchDecoder(session: Session, path: string): NamedDecoder {
  const image = findTensor(session.inputs, (shape) => isSquare(shape, Math.min(Number(shape[2]), MAX_DECODER_SIDE)))
  const output = findTensor(session.outputs, isBits)
  if (image && output) return { session, image: image.name, side: Number(image.shape[2]), output: output.name }
  return fail(
    path,
    `must take a square image 1×3×N×N, N up to ${MAX_DECODER_SIDE}, and return 1×100 numbers; ${describe(session)}`,
  )
}

function findTensor(
  tensors: readonly TensorShape[],
  matches: (shape: TensorShape['shape']) => boolean,
): TensorShape | undefined {
  return tensors.find(({ shape }) => matches(shape))
}

function isSquare(shape: TensorShape['shape'], side: number): boolean {
  return side > 0 && [1, 3, side, side].every((size, i) => shape[i] === size)
}

function isBits(shape: TensorShape['shape']): boolean {
  return shape.length === 2 && shape[0] === 1 && shape[1] === MARK_BITS
}

function describe({ inputs, outputs }: Session): string {
  const list = (tensors: readonly TensorShape[]) =>
    tensors.map(({ name, shape }) => `${name} ${shape.join('×')}`).join(', ')
  return `it takes ${list(inputs)} and returns ${list(outputs)}`
}

function toModels(variant: string, { encoder, decoder }: { encoder: NamedEncoder; decoder: NamedDecoder }): MarkModels {
  const { side } = decoder
  return {
    variant,
    decoderSide: side,
    encode: async (pixels, bits) => {
      const { session, image, bits: secret, marked } = encoder
      const feeds = {
        [image]: { shape: [1, 3, ENCODER_SIDE, ENCODER_SIDE], data: pixels },
        [secret]: { shape: [1, MARK_BITS], data: bits },
      }
      return (await session.run(feeds, [marked]))[marked].data
    },
    decode: async (pixels) => {
      const feeds = { [decoder.image]: { shape: [1, 3, side, side], data: pixels } }
      return (await decoder.session.run(feeds, [decoder.output]))[decoder.output].data
    },
    release: async () => {
      await encoder.session.release()
      await decoder.session.release()
    },
  }
}

/** RGB of a square bitmap as a tensor: 3 × side × side, -1 to 1. */
export function toTensor({ channels, data }: Bitmap): Float32Array {
  const size = data.length / channels
  const out = new Float32Array(3 * size)
  for (let i = 0, at = 0; i < size; i++, at += channels) {
    for (let c = 0; c < 3; c++) out[c * size + i] = data[at + c] / 127.5 - 1
  }
  return out
}

function fail(path: string, problem: string, cause?: unknown): never {
  throw new Error(`${path}: ${problem}`, { cause })
}
