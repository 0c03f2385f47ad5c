import { rgbToLab } from '../../../raster/colour.ts'
import { createFieldSampler } from '../../../raster/field-sampler.ts'
import { gaussianBlur } from '../../../raster/filter.ts'
import { erode } from '../../../raster/morphology.ts'
import {
  type Colours,
  channelOf,
  createPlane,
  type Mask,
  maskToPlane,
  type Plane,
  subset,
} from '../../../raster/plane.ts'
import { enlargeByFactor, reduceMasked } from '../../../raster/reduce.ts'
import type { Layer } from '../../../raster/remap.ts'
import { medianOf } from '../../../raster/statistics.ts'
import { weightedBlur } from '../../../raster/weighted.ts'
import type { FittingRegions } from '../fit/upper/regions.ts'
import type { GarmentLayers } from '../warp/upper.ts'

/** Factors on the garment's colours at every pixel of the analysed picture. */
export interface Light {
  readonly torso: Plane
  readonly sleeves: Plane
}

/**
 * The light on the worn garment: its folds and the scene's large shadows, as far as its own pattern does not hide them, and
 * the roundness of the body.
 */
export function measureLight({ person, body, parts, regions }: FittingRegions): Light {
  const sleeves = lightOnCloth(parts.lab, {
    cloth: subset(parts.top, (i) => person.mask.data[i] > 0.6),
    unit: body.unit,
  })
  const torso = createPlane(sleeves)
  for (let i = 0; i < torso.data.length; i++)
    torso.data[i] = sleeves.data[i] * (1 - 0.13 * Math.min(1.15, regions.sideways.data[i]) ** 4)
  return { torso, sleeves }
}

/** The light that a piece of worn cloth shows, as a factor on colours; 1 away from it. `lab` is the picture in CIE Lab. */
export function lightOnCloth(lab: Colours, { cloth: worn, unit }: { cloth: Mask; unit: number }): Plane {
  const lightness = channelOf(lab, 0)
  const cloth = plainCloth({ lightness, lab, worn, unit })
  const factor = Math.max(1, Math.round(unit / 64))
  const cells = reduceMasked(lab, cloth.mask, factor)
  const coarse = (sigma: number) => {
    const { values } = weightedBlur(channelOf(cells.colours, 0), cells.weight, (sigma * unit) / factor)
    return enlargeByFactor(values, factor, lightness)
  }
  const weight = maskToPlane(cloth.mask)
  const near = weightedBlur(lightness, weight, 0.012 * unit).values
  const wide = coarse(0.1)
  const scene = coarse(0.45)
  const depth = foldDepth(near, wide, { cloth: cloth.mask, median: cloth.median })
  const sceneDepth = depth > 0.1 ? 0.45 : 0.2
  const sure = gaussianBlur(weight, 0.02 * unit)
  const light = createPlane(lightness, 1)
  for (let i = 0; i < light.data.length; i++) {
    const belief = clamp(1.6 * sure.data[i] - 0.4, 0, 1)
    if (belief === 0) continue
    const fold = clamp((near.data[i] + 8) / (wide.data[i] + 8), 0.6, 1.5) ** depth
    const large = clamp((wide.data[i] + 8) / (scene.data[i] + 8), 0.75, 1.25) ** sceneDepth
    light.data[i] = (1 + belief * (fold - 1)) * (1 + belief * (large - 1))
  }
  return light
}

/**
 * The garment's layers under that light; the product keeps its colour: when the torso would differ by more than 4.5 (mean
 * ΔE, CIE 1976) all shading is weakened in proportion. The layers are shaded where they are, for they are large.
 */
export function shadeLayers(layers: GarmentLayers, light: Light): void {
  const strength = keptStrength(layers.torso, light.torso)
  forEachLit(layers.torso, light.torso, (i, torso) => shade(layers.torso, i, { light: torso, strength }))
  for (const { layer, across } of layers.sleeves) {
    forEachLit(layer, light.sleeves, (i, sleeve) => {
      const round = 1 - 0.16 * Math.abs(across[i] / 127) ** 3
      shade(layer, i, { light: sleeve * round, strength })
    })
  }
}

/** One piece of cloth under a light of any size, as `shadeLayers` does it. */
export function shadePiece(piece: Layer, light: Plane): void {
  const strength = keptStrength(piece, light)
  forEachLit(piece, light, (i, own) => shade(piece, i, { light: own, strength }))
}

// Every pixel of the piece that shows something, and the light there; a plane of the piece's size would cost more than the piece.
function forEachLit(piece: Layer, light: Plane, visit: (index: number, light: number) => void): void {
  const sampler = createFieldSampler([light], { size: piece, touched: [light] })
  const { width, height, data } = piece
  for (let y = 0; y < height; y++) {
    const end = (y + 1) * width
    let i = y * width
    while (i < end && data[i * 4 + 3] === 0) i++
    if (i === end) continue
    sampler.moveTo(y)
    for (; i < end; i++) if (data[i * 4 + 3] > 0) visit(i, sampler.fieldsAt(i - y * width)[0])
  }
}

const MAX_DIFFERENCE = 4.5

function keptStrength(piece: Layer, light: Plane): number {
  return Math.min(1, MAX_DIFFERENCE / Math.max(1e-6, meanDifference(piece, light)))
}

interface Cloth {
  readonly mask: Mask
  /** Median L of the worn garment. */
  readonly median: number
}

// Only pixels of the garment's main colour show the light: a print would be copied onto the new garment.
function plainCloth({
  lightness,
  lab,
  worn,
  unit,
}: {
  lightness: Plane
  lab: Colours
  worn: Mask
  unit: number
}): Cloth {
  const [l, a, b] = [0, 1, 2].map((channel) => medianOf(lab, worn, channel))
  const local = gaussianBlur(lightness, 0.02 * unit)
  const odd = createPlane(worn)
  for (let i = 0, k = 0; i < odd.data.length; i++, k += 3) {
    const strange =
      Math.hypot(lab.data[k + 1] - a, lab.data[k + 2] - b) > 9 ||
      Math.abs(lab.data[k] - local.data[i]) > 7 ||
      Math.abs(lab.data[k] - l) > 24
    odd.data[i] = strange ? 1 : 0
  }
  const near = gaussianBlur(odd, 0.015 * unit)
  return {
    mask: erode(
      subset(worn, (i) => near.data[i] <= 0.25),
      1,
    ),
    median: l,
  }
}

// How much of the folds is carried over: strong variation is pattern, not relief, and black cloth hides its folds.
function foldDepth(near: Plane, wide: Plane, { cloth, median }: { cloth: Mask; median: number }): number {
  let count = 0
  let sum = 0
  let squares = 0
  for (let i = 0; i < cloth.data.length; i++) {
    if (!cloth.data[i]) continue
    const relief = near.data[i] - wide.data[i]
    count++
    sum += relief
    squares += relief * relief
  }
  if (count === 0) return 0
  const deviation = Math.sqrt(Math.max(0, squares / count - (sum / count) ** 2))
  return 0.55 * clamp(1.35 - deviation / 7, 0, 1) * clamp((median - 12) / 28, 0, 1)
}

function meanDifference(piece: Layer, light: Plane): number {
  const before: number[] = []
  const after: number[] = []
  forEachLit(piece, light, (i, own) => {
    const k = i * 4
    if (i % 17 !== 0 || piece.data[k + 3] < 250) return
    for (let c = k; c < k + 3; c++) {
      before.push(piece.data[c])
      after.push(lit(piece.data[c], piece.data[k + 3], own))
    }
  })
  if (before.length === 0) return 0
  const lab = (values: number[]) =>
    rgbToLab({ width: values.length / 3, height: 1, channels: 3, data: Float32Array.from(values) }).data
  const [a, b] = [lab(before), lab(after)]
  let sum = 0
  for (let k = 0; k < a.length; k += 3) sum += Math.hypot(a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2])
  return sum / (a.length / 3)
}

// A cut-out's edge is soft over several pixels; on a person that looks like fluff.
const EDGE_FROM = 0.2
const EDGE_TO = 0.75

function shade({ data }: Layer, index: number, { light, strength }: { light: number; strength: number }): void {
  const k = index * 4
  const soft = data[k + 3]
  const alpha = 255 * clamp((soft / 255 - EDGE_FROM) / (EDGE_TO - EDGE_FROM), 0, 1)
  for (let c = k; c < k + 3; c++) {
    const value = (data[c] * alpha) / soft
    data[c] = value + (lit(value, alpha, light) - value) * strength
  }
  data[k + 3] = alpha
}

// A premultiplied value under the light. The small addition lets black cloth show folds.
function lit(value: number, alpha: number, light: number): number {
  return Math.min(alpha, value * light + (light > 1 ? ((light - 1) * 6 * alpha) / 255 : 0))
}

function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value))
}
