import type { Session, Tensor, TensorShape } from '../../../inference/session.ts'
import type { Bytes } from '../../../vision/raster/bytes.ts'
import type { Size } from '../../../vision/raster/plane.ts'
import { resizeArea } from '../../../vision/raster/sample.ts'
import { assertNumbers } from '../tensors.ts'
import { LABELS, type Labels } from './labels.ts'

/** ImageNet normalisation, red first. */
const MEAN = [0.485, 0.456, 0.406]
const DEVIATION = [0.229, 0.224, 0.225]

/** Segments clothes and body parts. */
export interface Parser {
  /** Labels every pixel of the bitmap. @throws RESULT_REJECTED if the graph returns NaN */
  parse(bitmap: Bytes): Promise<Labels>
}

/**
 * A parser with the interface of SegFormer: one image of a fixed size → scores of each label on a coarser grid.
 * @throws Error that names the actual inputs and outputs if they differ
 */
export function createParser(graph: Session): Parser {
  const { input, output, view } = describeParser(graph)
  return {
    parse: async (bitmap) => {
      const scores = (await graph.run({ [input]: viewOf(bitmap, view) }))[output]
      assertNumbers(scores)
      return labelsOf(scores, bitmap)
    },
  }
}

function describeParser({ inputs, outputs }: Session): { input: string; output: string; view: Size } {
  const [, channels, height, width] = inputs[0]?.shape ?? []
  const [, labels] = outputs[0]?.shape ?? []
  const takesImage = inputs.length === 1 && channels === 3 && typeof height === 'number' && typeof width === 'number'
  if (!takesImage || outputs.length !== 1 || labels !== LABELS.length)
    throw new Error(
      `The graph parser takes ${describe(inputs)} and returns ${describe(outputs)}, which does not match the interface of a parser`,
    )
  return { input: inputs[0].name, output: outputs[0].name, view: { width, height } }
}

function describe(tensors: readonly TensorShape[]): string {
  return tensors.map(({ name, shape }) => `${name} ${shape.join('×')}`).join(', ')
}

/** The whole bitmap, stretched to the view, 1 × 3 × height × width, red first. */
function viewOf(bitmap: Bytes, view: Size): Tensor {
  const resized = resizeArea(bitmap, view)
  const pixels = view.width * view.height
  const data = new Float32Array(3 * pixels)
  for (let i = 0; i < pixels; i++) {
    for (let c = 0; c < 3; c++) data[c * pixels + i] = (Math.round(resized[i * 3 + c]) / 255 - MEAN[c]) / DEVIATION[c]
  }
  return { shape: [1, 3, view.height, view.width], data }
}

/** The label with the highest score, with scores interpolated between grid cells. */
function labelsOf({ shape: [, count, rows, columns], data }: Tensor, { width, height }: Size): Labels {
  const out = new Uint8Array(width * height)
  const across = tapsBetween(columns, width)
  const down = tapsBetween(rows, height)
  for (let y = 0, to = 0; y < height; y++) {
    const row = down[y]
    for (let x = 0; x < width; x++, to++) {
      const column = across[x]
      let bestScore = -Infinity
      for (let label = 0; label < count; label++) {
        const upper = (label * rows + row.first) * columns
        const lower = (label * rows + row.second) * columns
        const a = data[upper + column.first] * (1 - column.share) + data[upper + column.second] * column.share
        const b = data[lower + column.first] * (1 - column.share) + data[lower + column.second] * column.share
        const score = a * (1 - row.share) + b * row.share
        if (score > bestScore) {
          bestScore = score
          out[to] = label
        }
      }
    }
  }
  return { width, height, data: out }
}

function tapsBetween(from: number, to: number): { first: number; second: number; share: number }[] {
  return Array.from({ length: to }, (_, i) => {
    const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1)
    const first = Math.floor(at)
    return { first, second: Math.min(first + 1, from - 1), share: at - first }
  })
}
