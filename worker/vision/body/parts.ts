import { drawHands } from '../person/hand-area.ts'
import type { PersonLabels } from '../person/parse.ts'
import type { Person } from '../person/person.ts'
import { rgbToLab } from '../raster/colour.ts'
import { medianColour, samplesOf } from '../raster/colour-model.ts'
import { gaussianBlurColours } from '../raster/filter.ts'
import { countSet, withLabel } from '../raster/mask.ts'
import {
  type Bitmap,
  bitmapToColours,
  type Colours,
  createPlane,
  type Mask,
  type Plane,
  type Size,
} from '../raster/plane.ts'
import type { BodyFrame } from './body-frame.ts'
import { DRESS, HAIR, LOWER, labelParts, SKIN, TOP } from './part-labels.ts'
import { NECK, WAIST_EXPECTED, WAISTLINE } from './tuning.ts'

/** Segmentation of the person by colour and position. All masks have the size of the analysed bitmap. */
export interface Parts {
  readonly skin: Mask
  readonly top: Mask
  readonly lower: Mask
  readonly hair: Mask
  /** Body coordinates F and X of every pixel (see BodyFrame). */
  readonly along: Plane
  readonly across: Plane
  /** The slightly blurred bitmap in CIE Lab. */
  readonly lab: Colours
  /** Median Lab of visible skin; null if no skin is visible. */
  readonly skinColour: readonly [number, number, number] | null
  readonly hasFace: boolean
  /** Body coordinate F at which the lower garment begins in the middle, or null if it cannot be separated from the top. */
  readonly waistline: number | null
}

/** Labels every pixel of the person as skin, top, lower garment or hair, from the parser's labels in px of the bitmap. */
export function findParts(
  bitmap: Bitmap,
  person: Person,
  { body, parsed }: { body: BodyFrame; parsed: PersonLabels },
): Parts {
  const rgb = bitmapToColours(bitmap)
  const lab = gaussianBlurColours(rgbToLab(rgb), Math.max(0.7, 0.006 * body.unit))
  const { along, across } = bodyCoordinates(bitmap, body)
  const labels = labelParts({ rgb, lab }, { mask: person.mask, parsed, unit: body.unit })
  const seen = drawHands(bitmap, person.hands)
  for (let i = 0; i < labels.data.length; i++) if (seen.data[i] > 0.5) labels.data[i] = SKIN
  const waistline = findWaistline(labels, { along, across })
  nameClothes(labels, person.mask, along)
  const skin = withLabel(labels, labels.data, SKIN)
  return {
    skin,
    top: withLabel(labels, labels.data, TOP),
    lower: withLabel(labels, labels.data, LOWER),
    hair: withLabel(labels, labels.data, HAIR),
    along,
    across,
    lab,
    skinColour: countSet(skin) > MIN_SKIN ? medianColour(samplesOf(lab, skin)) : null,
    hasFace: person.landmarks.nose.visibility > 0.5,
    waistline,
  }
}

// A dress is a top above the waist and a lower garment below it. Ties, scarves and collars of shirts are worn, not carried.
function nameClothes({ data }: Mask, mask: Plane, along: Plane): void {
  for (let i = 0; i < data.length; i++) {
    const f = along.data[i]
    if (data[i] === DRESS) data[i] = f < WAIST_EXPECTED ? TOP : LOWER
    else if (data[i] === 0 && mask.data[i] > 0.5 && f > NECK[0] && f < NECK[1]) data[i] = TOP
  }
}

// Fewer pixels of skin tell no colour.
const MIN_SKIN = 50

function bodyCoordinates(size: Size, body: BodyFrame): { along: Plane; across: Plane } {
  const along = createPlane(size)
  const across = createPlane(size)
  const { shoulders, down, right, trunk, unit } = body
  for (let y = 0, i = 0; y < size.height; y++) {
    const dy = y - shoulders.y
    for (let x = 0; x < size.width; x++, i++) {
      const dx = x - shoulders.x
      along.data[i] = (dx * down.x + dy * down.y) / trunk
      across.data[i] = (dx * right.x + dy * right.y) / unit
    }
  }
  return { along, across }
}

/**
 * Body coordinate F at which the lower garment begins in the middle of the torso, from `WAISTLINE.from` on: the row that best separates
 * top from lower garment. Null if no row separates them clearly.
 */
function findWaistline({ data }: Mask, { along, across }: { along: Plane; across: Plane }): number | null {
  const sums = new Float64Array(WAISTLINE.rows)
  const counts = new Float64Array(WAISTLINE.rows)
  for (let i = 0; i < data.length; i++) {
    const row = Math.floor((along.data[i] - WAISTLINE.from) / WAISTLINE.step)
    if (row < 0 || row >= WAISTLINE.rows || Math.abs(across.data[i]) > WAISTLINE.across) continue
    if (data[i] !== TOP && data[i] !== LOWER) continue
    counts[row]++
    sums[row] += data[i] === TOP ? 1 : -1
  }
  return findBestSplit(sums, counts)
}

// Bare rows are inconclusive: below a crop top, the last bare row is that of the waistband.
function findBestSplit(sums: Float64Array, counts: Float64Array): number | null {
  const rowOf = (values: Float64Array, from: number, to: number) => values.subarray(from, to).reduce((a, b) => a + b, 0)
  const total = rowOf(sums, 0, sums.length)
  let above = 0
  let best = { row: 0, gain: Number.NEGATIVE_INFINITY }
  for (let row = 0; row <= sums.length; row++) {
    const gain = above - (total - above)
    if (gain >= best.gain) best = { row, gain }
    above += sums[row] ?? 0
  }
  const clear = (from: number, to: number) => rowOf(sums, from, to) / Math.max(1, rowOf(counts, from, to))
  const [asTop, asLower] = [clear(0, best.row), -clear(best.row, sums.length)]
  const isClear = Math.min(asTop, asLower) > WAISTLINE.clear.each && asTop + asLower > WAISTLINE.clear.both
  return isClear ? WAISTLINE.from + WAISTLINE.step * best.row : null
}
