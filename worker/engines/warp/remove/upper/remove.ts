import { unusable } from '../../../../vision/body/body-frame.ts'
import { labToRgb, rgbToLab } from '../../../../vision/raster/colour.ts'
import { continueTexture } from '../../../../vision/raster/continue-texture.ts'
import { featherMask, smoothOutline } from '../../../../vision/raster/feather.ts'
import { fillSmoothly } from '../../../../vision/raster/fill.ts'
import {
  below,
  countSet,
  intersect,
  invert,
  union,
  withLabel,
  without,
  withValue,
} from '../../../../vision/raster/mask.ts'
import { dilate } from '../../../../vision/raster/morphology.ts'
import type { Colours, Mask, Plane, Size } from '../../../../vision/raster/plane.ts'
import { type Reduced, reduceMasked } from '../../../../vision/raster/reduce.ts'
import { medianOf } from '../../../../vision/raster/statistics.ts'
import { norm } from '../../../../vision/raster/vector.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import type { FlatGarment } from '../../warp/layers.ts'
import { BACKGROUND, GARMENT, KEEP, LOWER, nearPerson, SKIN, type UpperRemoval, type WornGarment } from '../removal.ts'
import {
  ARM_OUTLINE,
  MAX_BELOW_HEM,
  MAX_OF_SKIN_COLOUR,
  MAX_WITHOUT_SKIN,
  MIN_FILLED,
  MIN_LOWER_SEEN,
  SKIN_COLOURED,
  WARNED,
} from '../tuning.ts'
import { collarbones, inventSkin } from './invented-skin.ts'
import { findWornGarment } from './worn-mask.ts'
import { armsAndCover, armsAndShoulders, bodyWithin } from './zone-evidence.ts'
import { assignZones } from './zones.ts'

/**
 * Fills the visible parts of the worn garment with skin, background, the colour of the lower garment or, along the new
 * garment's edge, with the new garment. `photo` is the analysed bitmap in sRGB, 0 to 255; `garment` has its size.
 *
 * Throws `DrapeError` RESULT_REJECTED if much of the body would have to be invented and no skin is visible; if the worn garment covers more of the lower garment below the new hem than is
 * visible; and if the worn garment has the colour of skin and skin must replace it.
 */
export function removeUpper(
  fitting: FittingRegions,
  { photo, garment }: { photo: Colours; garment: FlatGarment },
): UpperRemoval {
  const { body, person } = fitting
  // Fills are smooth: cells of 1/64 body unit are fine enough.
  const factor = Math.max(1, Math.round(body.unit / 64))
  const unknown = nearPerson(person.mask, body.unit)
  const outside = reduceMasked(photo, invert(unknown), factor)
  const background = fillSmoothly(outside.colours, outside.weight)
  const worn = findWornGarment(fitting, { cells: rgbToLab(background), factor })
  const zones = assignZones(fitting, worn, garment)
  const areas = measureAreas(zones, body.unit)
  const warnings = warningsOf(areas)
  const canvas = {
    layer: { ...photo, channels: 4 as const, data: new Float32Array(zones.length * 4) },
    zones,
    cover: garment.cover,
  }
  if (areas.background > 0) {
    const share = backgroundShare(canvas, person.mask)
    const wanted = invert(below(share, 1e-3))
    paint(canvas, { cells: continueTexture(photo, { unknown, wanted }), factor: 1 }, share)
  }
  const isHemLeft = areas.lower > MIN_FILLED.lower && !paintLower(canvas, fitting, { photo, worn, factor })
  if (areas.lower > (isHemLeft ? MAX_BELOW_HEM.unknown : MAX_BELOW_HEM.known))
    throw unusable(
      'The clothes in the photo reach far below the hem of the new garment. Use a photo in a shorter top, or a longer garment.',
    )
  if (isHemLeft) warnings.push('OLD_HEM_VISIBLE')
  if (areas.skin > MAX_OF_SKIN_COLOUR && hasColourOfSkin(fitting.parts))
    throw unusable(
      'The clothes that the person wears have the colour of skin and cannot be distinguished from it. Use a photo in another colour.',
    )
  const seen = areas.skin > MIN_FILLED.skin ? paintSkin(canvas, fitting, { worn, factor }) : null
  if (seen && seen !== 'body' && areas.skin > MAX_WITHOUT_SKIN) {
    if (seen === 'none') throw unusable('No skin is visible that could be continued where the worn garment was')
    if (!warnings.includes('LARGE_SKIN_INVENTED')) warnings.push('LARGE_SKIN_INVENTED')
  }
  if (seen === 'none' && areas.skin > WARNED.remains) warnings.push('OLD_GARMENT_REMAINS')
  if (areas.garment > 0)
    paintSlivers(canvas, garment.colours, { mask: person.mask, reach: Math.ceil(0.08 * body.unit) + 1 })
  return { layer: canvas.layer, zones, worn, warnings }
}

interface Canvas {
  readonly layer: Colours
  readonly zones: Uint8Array
  readonly cover: Plane
}

// Not near the old hem: its shadow and threads would colour the fill.
function lowerGarment({ person, body, parts }: FittingRegions, worn: WornGarment): Mask {
  const near = dilate(worn.mask, 0.05 * body.unit)
  return withValue(withValue(without(parts.lower, near), person.mask, { over: 0.9 }), parts.along, { over: 0.9 })
}

// Cream on fair skin: the end of the old sleeve is invisible, so parts of it would remain.
function hasColourOfSkin({ lab, top, skinColour }: FittingRegions['parts']): boolean {
  if (skinColour === null || countSet(top) === 0) return false
  const [l, a, b] = [0, 1, 2].map((channel) => medianOf(lab, top, channel) - skinColour[channel])
  return norm(a, b) < SKIN_COLOURED.tint && Math.abs(l) < SKIN_COLOURED.lightness
}

// False if too little of the lower garment is visible to continue it.
function paintLower(
  canvas: Canvas,
  fitting: FittingRegions,
  { photo, worn, factor }: { photo: Colours; worn: WornGarment; factor: number },
): boolean {
  const visible = lowerGarment(fitting, worn)
  if (countSet(visible) <= MIN_LOWER_SEEN * fitting.body.unit ** 2) return false
  const { colours, weight } = reduceMasked(photo, visible, factor)
  const share = shareOf(canvas, LOWER, { sigma: 1, joins: fitting.parts.lower })
  paint(canvas, { cells: fillSmoothly(colours, weight), factor }, share)
  return true
}

// Where skin is visible: on arms, hands or neck; only on the face; or nowhere.
type SeenSkin = 'body' | 'face' | 'none'

function paintSkin(
  canvas: Canvas,
  fitting: FittingRegions,
  { worn, factor }: { worn: WornGarment; factor: number },
): SeenSkin {
  const skin = inventSkin(fitting, { old: worn.mask, bare: bodyWithin(canvas.zones, fitting.person.mask), factor })
  if (!skin) return 'none'
  const share = skinShare(canvas, fitting)
  paint(canvas, { cells: labToRgb(skin.tones), factor }, share)
  lighten(canvas, collarbones(fitting.parts), share)
  return skin.fromFace ? 'face' : 'body'
}

type Areas = Readonly<Record<'skin' | 'background' | 'lower' | 'garment', number>>

// In squared body units.
function measureAreas(zones: Uint8Array, unit: number): Areas {
  const counts = new Float64Array(5)
  for (let i = 0; i < zones.length; i++) counts[zones[i]] += 1 / (unit * unit)
  return { skin: counts[SKIN], background: counts[BACKGROUND], lower: counts[LOWER], garment: counts[GARMENT] }
}

function warningsOf({ skin, background, lower }: Areas): string[] {
  const warnings: string[] = []
  if (lower > WARNED.longer) warnings.push('OLD_GARMENT_LONGER')
  if (skin > WARNED.skin) warnings.push('LARGE_SKIN_INVENTED')
  if (background > WARNED.background) warnings.push('LARGE_BACKGROUND_INVENTED')
  return warnings
}

// A zone extends slightly under everything painted over it later and over adjacent pixels of its own kind, so that no line of
// the old garment remains between two soft edges.
function shareOf(
  { zones, cover }: Canvas,
  zone: number,
  { sigma, joins, reach = 1 }: { sigma: number; joins: Mask | null; reach?: number },
): Plane {
  const own = withLabel(cover, zones, zone)
  const under = dilate(own, 3)
  const beside = joins ? intersect(dilate(own, reach), joins, withLabel(cover, zones, KEEP)) : own
  const share = union(own, beside)
  for (let i = 0; i < zones.length; i++)
    if (under.data[i] && (zones[i] > zone || cover.data[i] >= SOLID)) share.data[i] = 1
  return featherMask(share, sigma)
}

// A garment that is extended to the person's outline ends in the person's own soft edge, with background behind it.
function backgroundShare(canvas: Canvas, mask: Plane): Plane {
  const share = shareOf(canvas, BACKGROUND, { sigma: 1, joins: below(mask, 0.5) })
  for (let i = 0; i < share.data.length; i++)
    if (canvas.zones[i] === BACKGROUND || (canvas.zones[i] === GARMENT && mask.data[i] < 0.95)) share.data[i] = 1
  return share
}

function skinShare(canvas: Canvas, { person, body, parts, regions }: FittingRegions): Plane {
  const share = shareOf(canvas, SKIN, {
    sigma: Math.max(SOFT_EDGE, 0.004 * body.unit),
    joins: parts.skin,
    reach: 0.016 * body.unit,
  })
  for (let i = 0; i < share.data.length; i++)
    if (person.mask.data[i] <= 0.5 && canvas.zones[i] !== SKIN) share.data[i] = 0
  outlineArms(share, canvas, { person, body, regions })
  return share
}

// The view has fewer pixels than the picture: steps of its pixels would be seen along an arm in front of the background.
function outlineArms(
  share: Plane,
  { zones, cover }: Canvas,
  { person, body, regions }: Pick<FittingRegions, 'person' | 'body' | 'regions'>,
): void {
  const arms = withValue(intersect(armsAndShoulders(regions), withLabel(cover, zones, SKIN)), cover, { under: SOLID })
  const edge = intersect(dilate(arms, 2), dilate(withLabel(cover, zones, BACKGROUND), 2))
  const outline = smoothOutline(armsAndCover(zones, person.mask, cover), {
    sigma: ARM_OUTLINE * body.unit,
    softness: SOFT_EDGE,
  })
  for (let i = 0; i < share.data.length; i++) if (edge.data[i]) share.data[i] = outline.data[i]
}

// Sigma in px of an edge.
const SOFT_EDGE = 0.8

function paint({ layer }: Canvas, { cells, factor }: Reduced, share: Plane): void {
  const { width, data } = layer
  for (let i = 0; i < share.data.length; i++) {
    const alpha = share.data[i]
    if (alpha < 1e-3) continue
    const u = Math.min(Math.max(((i % width) + 0.5) / factor - 0.5, 0), cells.width - 1)
    const v = Math.min(Math.max((Math.floor(i / width) + 0.5) / factor - 0.5, 0), cells.height - 1)
    const left = Math.floor(u)
    const upper = Math.floor(v)
    const right = left < cells.width - 1 ? 3 : 0
    const down = upper < cells.height - 1 ? cells.width * 3 : 0
    for (let c = 0; c < 3; c++) {
      const at = (upper * cells.width + left) * 3 + c
      const top = cells.data[at] + (cells.data[at + right] - cells.data[at]) * (u - left)
      const bottom = cells.data[at + down] + (cells.data[at + down + right] - cells.data[at + down]) * (u - left)
      data[i * 4 + c] = data[i * 4 + c] * (1 - alpha) + (top + (bottom - top) * (v - upper)) * alpha
    }
    data[i * 4 + 3] = data[i * 4 + 3] * (1 - alpha) + 255 * alpha
  }
}

// The tones have too few pixels for lines. The values of sRGB are nearly proportional to L.
function lighten({ layer }: Canvas, light: Plane, share: Plane): void {
  const { data } = layer
  for (let i = 0, k = 0; i < light.data.length; i++, k += 4) {
    if (light.data[i] === 0 || share.data[i] < 1e-3) continue
    const lightness = (0.3 * data[k] + 0.59 * data[k + 1] + 0.11 * data[k + 2]) / 2.55
    const gain = 1 + (share.data[i] * light.data[i]) / Math.max(10, lightness)
    for (let c = k; c < k + 3; c++) data[c] = Math.min(255, data[c] * gain)
  }
}

type Rgb = readonly [number, number, number]

// Colours spread outwards from the garment, one pixel per iteration, 2 px further than required for the soft edge.
function paintSlivers(canvas: Canvas, garment: Colours, { mask, reach }: { mask: Plane; reach: number }): void {
  const { layer, zones, cover } = canvas
  const share = shareOf(canvas, GARMENT, { sigma: 0.8, joins: null })
  const colours = new Map<number, Rgb>()
  const colourAt = (i: number): Rgb | undefined => {
    if (cover.data[i] < 0.9) return colours.get(i)
    const k = i * 4
    const scale = 1 / cover.data[i]
    return [garment.data[k] * scale, garment.data[k + 1] * scale, garment.data[k + 2] * scale]
  }
  let open: number[] = []
  for (let i = 0; i < zones.length; i++) if (share.data[i] > 0.01 && cover.data[i] < SOLID) open.push(i)
  for (let round = 0; round < reach && open.length > 0; round++) {
    const found: [number, Rgb][] = []
    for (const i of open) {
      const mean = meanAround(i, layer, colourAt)
      if (mean) found.push([i, mean])
    }
    for (const [i, colour] of found) colours.set(i, colour)
    open = open.filter((i) => !colours.has(i))
  }
  for (const [i, colour] of colours) {
    const alpha = share.data[i] * (mask.data[i] >= 0.95 ? 1 : mask.data[i])
    for (let c = 0; c < 3; c++) layer.data[i * 4 + c] = layer.data[i * 4 + c] * (1 - alpha) + colour[c] * alpha
    layer.data[i * 4 + 3] = layer.data[i * 4 + 3] * (1 - alpha) + 255 * alpha
  }
}

function meanAround(i: number, { width, height }: Size, colourAt: (index: number) => Rgb | undefined): Rgb | null {
  const x = i % width
  const y = Math.floor(i / width)
  const sum: [number, number, number] = [0, 0, 0]
  let count = 0
  for (let dy = -1; dy <= 1; dy++) {
    for (let dx = -1; dx <= 1; dx++) {
      if (x + dx < 0 || y + dy < 0 || x + dx >= width || y + dy >= height) continue
      const colour = colourAt(i + dy * width + dx)
      if (!colour) continue
      for (let c = 0; c < 3; c++) sum[c] += colour[c]
      count++
    }
  }
  return count > 0 ? [sum[0] / count, sum[1] / count, sum[2] / count] : null
}
