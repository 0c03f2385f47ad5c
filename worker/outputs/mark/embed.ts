import { type Bitmap, decodeImage, encodeImage, type Rectangle, resizeBitmap } from '../../../api/shared/image/image.ts'
import { copyRgb } from '../../vision/composite/blend.ts'
import type { Size } from '../../vision/raster/plane.ts'
import { ENCODER_SIDE, type MarkModels, toTensor } from './mark-models.ts'
import { encodeMarkId } from './payload.ts'
import { limitSide, readFrame, WHOLE } from './read.ts'
import { cutOut, findMarkedRegion } from './region.ts'
import { type ColourChange, measureChange, pickSamples } from './visibility.ts'

/** `weakened`: marked with less than the model's strength, to stay within the bound. `visible`, `unreadable`: why the image has no mark. */
export type MarkOutcome = 'marked' | 'weakened' | 'visible' | 'unreadable'

export interface Marked {
  /** The marked bitmap; the original bitmap if it has no mark. */
  readonly bitmap: Bitmap
  readonly outcome: MarkOutcome
  /** Colour change that the mark causes; null without a mark. */
  readonly change: ColourChange | null
}

/** Max CIEDE2000 of the marked region: on average, and of all but 1 % of its pixels. 1 is about the smallest difference that people see. */
export const MAX_CHANGE: ColourChange = { mean: 1, percentile99: 3 }
/** Min share of the model's strength: a weaker mark would hardly survive a JPEG and is omitted. */
const MIN_STRENGTH = 0.4
/** Strength that TrustMark uses for variant P, whose encoder marks less strongly. */
const STRENGTH_OF_P = 1.25
/** Share of the shorter side over which the mark fades in, and its max in px, as in TrustMark. */
const FADE = 0.01
const MAX_FADE = 50

/**
 * Marks the image with an ID. A mark that people could see is weakened; an image that shows even a weak mark, or whose mark cannot be read
 * from a JPEG of quality 70, stays unchanged.
 */
export async function embedMark(bitmap: Bitmap, id: string, models: MarkModels): Promise<Marked> {
  const region = findMarkedRegion(bitmap, { isSquare: models.variant === 'P' })
  const residual = await findResidual(cutOut(bitmap, region), id, models)
  const samples = pickSamples(bitmap, region)
  const full = models.variant === 'P' ? STRENGTH_OF_P : 1
  let strength = full
  let change = measureChange(samples, createAdd(region, residual, strength))
  // Rounding and clipping make the change not quite proportional to the strength.
  while (excessOf(change) > 1) {
    strength *= 0.97 / excessOf(change)
    if (strength < MIN_STRENGTH * full) return { bitmap, outcome: 'visible', change: null }
    change = measureChange(samples, createAdd(region, residual, strength))
  }
  const marked = copyRgb(bitmap)
  addToAll(marked, region, createAdd(region, residual, strength))
  if ((await readFrame(await compress(marked), WHOLE, models)) !== id)
    return { bitmap, outcome: 'unreadable', change: null }
  return { bitmap: marked, outcome: strength === full ? 'marked' : 'weakened', change }
}

/** Simulates the compression of a result by a shop or a social network. */
async function compress(bitmap: Bitmap): Promise<Bitmap> {
  return decodeImage(await encodeImage(await limitSide(bitmap), { format: 'jpeg', quality: 70 }))
}

/** Ratio of the mark's change to the allowed change. */
function excessOf({ mean, percentile99 }: ColourChange): number {
  return Math.max(mean / MAX_CHANGE.mean, percentile99 / MAX_CHANGE.percentile99)
}

/** What the encoder adds to each pixel of its square: 3 × side × side, in levels of 0 to 255, without a change of the mean. */
async function findResidual(part: Bitmap, id: string, models: MarkModels): Promise<Float32Array> {
  const square = { width: ENCODER_SIDE, height: ENCODER_SIDE }
  const cover = toTensor(await resizeBitmap(part, square, { kernel: 'linear' }))
  const residual = Float32Array.from(
    await models.encode(cover, encodeMarkId(id)),
    (value, i) => (Math.min(1, Math.max(-1, value)) - cover[i]) * 127.5,
  )
  const size = ENCODER_SIDE ** 2
  for (let c = 0; c < 3; c++) {
    const plane = residual.subarray(c * size, (c + 1) * size)
    const mean = plane.reduce((sum, value) => sum + value, 0) / size
    for (let i = 0; i < size; i++) plane[i] -= mean
  }
  return residual
}

/** Adds the mark to the pixel of the region in this column and row, whose RGB starts at `at` of `data`. */
type Add = (data: Uint8Array, at: number, column: number, row: number) => void

/** Interpolates the residual between the pixels of its square. A plane of the size of the image would take 12 bytes per pixel. */
function createAdd({ width, height }: Size, residual: Float32Array, strength: number): Add {
  const columns = createTaps(width)
  const rows = createTaps(height)
  const fade = Math.min(MAX_FADE, Math.max(1, Math.floor(Math.min(width, height) * FADE)))
  const plane = ENCODER_SIDE ** 2
  return (data, at, column, row) => {
    const edge = Math.min(column, row, width - 1 - column, height - 1 - row)
    const weight = strength * Math.min(1, (edge + 1) / fade)
    const left = columns.first[column]
    const right = columns.second[column]
    const fx = columns.fraction[column]
    const upper = rows.first[row] * ENCODER_SIDE
    const lower = rows.second[row] * ENCODER_SIDE
    const fy = rows.fraction[row]
    for (let c = 0, from = 0; c < 3; c++, from += plane) {
      const top = residual[from + upper + left] * (1 - fx) + residual[from + upper + right] * fx
      const bottom = residual[from + lower + left] * (1 - fx) + residual[from + lower + right] * fx
      const value = Math.round(data[at + c] + weight * (top * (1 - fy) + bottom * fy))
      data[at + c] = value < 0 ? 0 : value > 255 ? 255 : value
    }
  }
}

/** Linear interpolation with half-pixel centres: the two pixels of the square around each pixel of the region. */
function createTaps(length: number) {
  const first = new Uint16Array(length)
  const second = new Uint16Array(length)
  const fraction = new Float32Array(length)
  for (let i = 0; i < length; i++) {
    const at = Math.min(Math.max(((i + 0.5) * ENCODER_SIDE) / length - 0.5, 0), ENCODER_SIDE - 1)
    first[i] = at
    second[i] = Math.min(first[i] + 1, ENCODER_SIDE - 1)
    fraction[i] = at - first[i]
  }
  return { first, second, fraction }
}

function addToAll({ width, data }: Bitmap, region: Rectangle, add: Add): void {
  for (let row = 0; row < region.height; row++) {
    let at = ((region.y + row) * width + region.x) * 3
    for (let column = 0; column < region.width; column++, at += 3) add(data, at, column, row)
  }
}
