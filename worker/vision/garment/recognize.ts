import { boundsOf } from '../raster/crop.ts'
import { resizeArea } from '../raster/sample.ts'
import type { Category, CutOut } from './garment.ts'
import { GARMENT_MODELS, type RunGarmentModel } from './garment-models.ts'

/** How likely a cutout shows a garment of each category, 0 to 1; outerwear counts as tops. */
export type CategoryShares = Readonly<Record<Exclude<Category, 'outerwear'>, number>>

/** Order of the model's output. */
const CATEGORIES = ['tops', 'bottoms', 'one-pieces', 'other'] as const

/** Recognizes the category of a garment that is upright in its photo. */
export async function recognizeCategory(cut: CutOut, run: RunGarmentModel): Promise<CategoryShares> {
  const shares = await run('garment_category', drawForModel(cut))
  const [tops, bottoms, onePieces, other] = CATEGORIES.map((_, i) => shares[i])
  return { tops, bottoms, 'one-pieces': onePieces, other }
}

// As in scripts/train-garment-category.py: the garment fills this share of the image, in grey with little contrast, so that neither
// colours nor prints decide.
const FILLED = 0.9
const LEVEL = 0.45
const CONTRAST = 0.25
const LUMA = [0.299, 0.587, 0.114] as const

function drawForModel(cut: CutOut): Float32Array {
  const { side } = GARMENT_MODELS.garment_category
  const { width, height, data } = brightnessOf(cut)
  const scale = (FILLED * side) / Math.max(width, height)
  const size = { width: Math.max(1, Math.round(width * scale)), height: Math.max(1, Math.round(height * scale)) }
  // Two channels: brightness times coverage, and coverage.
  const small = resizeArea({ width, height, channels: 2, data }, size)
  const pixels = size.width * size.height
  let [brightness, coverage] = [0, 0]
  for (let i = 0; i < pixels; i++) {
    brightness += small[2 * i]
    coverage += small[2 * i + 1]
  }
  const mean = brightness / Math.max(1, coverage)
  const image = new Float32Array(side * side * 3).fill(1)
  const left = Math.floor((side - size.width) / 2)
  const top = Math.floor((side - size.height) / 2)
  for (let i = 0; i < pixels; i++) {
    const cover = small[2 * i + 1]
    const grey = LEVEL * cover + CONTRAST * (small[2 * i] - mean * cover)
    const at = 3 * ((top + Math.floor(i / size.width)) * side + left + (i % size.width))
    image.fill(Math.min(1, Math.max(0, grey + 1 - cover)), at, at + 3)
  }
  return image
}

// Brightness times coverage, and coverage, of the part of the photo that shows the garment.
function brightnessOf({ colours, alpha }: CutOut): { width: number; height: number; data: Float32Array } {
  const { x, y, width, height } = boundsOf(alpha, 0.5) ?? { x: 0, y: 0, width: 1, height: 1 }
  const data = new Float32Array(width * height * 2)
  for (let row = 0, to = 0; row < height; row++) {
    const from = (y + row) * alpha.width + x
    for (let i = from; i < from + width; i++, to += 2) {
      const brightness = LUMA.reduce((sum, weight, c) => sum + weight * colours.data[3 * i + c], 0) / 255
      data[to] = brightness * alpha.data[i]
      data[to + 1] = alpha.data[i]
    }
  }
  return { width, height, data }
}
