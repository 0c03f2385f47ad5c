import { componentsTouching, keepComponents } from '../../raster/components.ts'
import { countSet, invert, subset, without, withValue } from '../../raster/mask.ts'
import { dilate, open } from '../../raster/morphology.ts'
import type { Mask } from '../../raster/plane.ts'
import { findSymmetry } from '../outline/symmetry.ts'
import type { ComparedImage } from './shadow.ts'

const MIN_SYMMETRY = 0.85
// Max width as a share of the long side: sleeves are wider, the dark end of a gap is not.
const WIDEST = 0.04
const MAX_REMOVED = 0.02
// Smaller pieces are noise of the edge.
const MIN_AREA = 0.0003

/**
 * Removes thin pieces that resemble shaded background and have no garment on the mirrored side: light from one side fills the gap under
 * the other side's sleeve with a shadow as dark as cloth.
 */
export function removeMirroredShadow(garment: Mask, { background, comparison }: ComparedImage): Mask {
  const { width, height } = garment
  const tintLimit = Math.max(6, 6 * background.deviation)
  const inShadow = withValue(garment, comparison.light, { over: 0.2, under: 1.03 })
  const shaded = withValue(inShadow, comparison.tint, { under: tintLimit })
  if (countSet(shaded) < MIN_AREA * width * height) return garment
  const { score, angle, centre } = findSymmetry(garment)
  if (score < MIN_SYMMETRY) return garment
  const longSide = Math.max(width, height)
  const [cos, sin] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)]
  const around = dilate(garment, 0.0025 * longSide)
  const alone = subset(shaded, (i) => {
    const [x, y] = [i % width, Math.floor(i / width)]
    const away = (x - centre.x) * cos - (y - centre.y) * sin
    const column = Math.round(x - 2 * away * cos)
    const row = Math.round(y + 2 * away * sin)
    if (column < 0 || row < 0 || column >= width || row >= height) return true
    return around.data[row * width + column] === 0
  })
  const broad = open(alone, (WIDEST / 2) * longSide)
  const slivers = open(without(alone, broad), 1)
  const removed = componentsTouching(
    keepComponents(slivers, ({ area }) => area >= MIN_AREA * width * height),
    dilate(invert(garment), 2),
  )
  if (countSet(removed) > MAX_REMOVED * countSet(garment)) return garment
  const rest = without(garment, removed)
  // The remaining sides of the gap are frayed.
  const frayed = dilate(removed, 0.02 * longSide)
  const smooth = open(rest, 0.006 * longSide)
  return without(rest, without(frayed, smooth))
}
