import { rgbToLab } from '../../../vision/raster/colour.ts'
import { createFieldSampler } from '../../../vision/raster/field-sampler.ts'
import type { Plane } from '../../../vision/raster/plane.ts'
import type { Layer } from '../../../vision/raster/remap.ts'
import { clamp } from '../../../vision/raster/statistics.ts'
import { norm } from '../../../vision/raster/vector.ts'
import { BLACK_LIFT, EDGE, MAX_DIFFERENCE } from './tuning.ts'

interface Shading {
  /** Share of the shading that is applied, 0 to 1. Default: the max that preserves the product's colour. */
  readonly strength?: number
  /** Factor on the light at a pixel of the piece. Default 1. */
  readonly factorAt?: (index: number) => number
}

/** Shades a piece of cloth in place, under a light of any size. */
export function shadePiece(
  piece: Layer,
  light: Plane,
  { strength = keptStrength(piece, light), factorAt = () => 1 }: Shading = {},
): void {
  forEachLit(piece, light, (i, own) => shade(piece, i, { light: own * factorAt(i), strength }))
}

// Visits the visible pixels of the piece, or every `step`th pixel, with the light there. A plane of that size would need more memory.
function forEachLit(piece: Layer, light: Plane, visit: (index: number, light: number) => void, step = 1): void {
  const sampler = createFieldSampler([light], { size: piece, touched: [light] })
  const { width, height, data } = piece
  for (let y = 0; y < height; y++) {
    const end = (y + 1) * width
    let i = step * Math.ceil((y * width) / step)
    while (i < end && data[i * 4 + 3] === 0) i += step
    if (i >= end) continue
    sampler.moveTo(y)
    for (; i < end; i += step) if (data[i * 4 + 3] > 0) visit(i, sampler.fieldsAt(i - y * width)[0])
  }
}

/** Max share of the shading that preserves the product's colour: the mean difference stays below MAX_DIFFERENCE. */
export function keptStrength(piece: Layer, light: Plane): number {
  return Math.min(1, MAX_DIFFERENCE / Math.max(1e-6, meanDifference(piece, light)))
}

function meanDifference(piece: Layer, light: Plane): number {
  const before: number[] = []
  const after: number[] = []
  const compare = (i: number, own: number) => {
    const k = i * 4
    if (piece.data[k + 3] < 250) return
    for (let c = k; c < k + 3; c++) {
      before.push(piece.data[c])
      after.push(lit(piece.data[c], piece.data[k + 3], own))
    }
  }
  forEachLit(piece, light, compare, 17)
  if (before.length === 0) return 0
  const lab = (values: number[]) =>
    rgbToLab({ width: values.length / 3, height: 1, channels: 3, data: Float32Array.from(values) }).data
  const [a, b] = [lab(before), lab(after)]
  let sum = 0
  for (let k = 0; k < a.length; k += 3) sum += norm(a[k] - b[k], a[k + 1] - b[k + 1], a[k + 2] - b[k + 2])
  return sum / (a.length / 3)
}

function shade({ data }: Layer, index: number, { light, strength }: { light: number; strength: number }): void {
  const k = index * 4
  const soft = data[k + 3]
  const alpha = 255 * clamp((soft / 255 - EDGE.from) / (EDGE.to - EDGE.from), 0, 1)
  for (let c = k; c < k + 3; c++) {
    const value = (data[c] * alpha) / soft
    data[c] = value + (lit(value, alpha, light) - value) * strength
  }
  data[k + 3] = alpha
}

// A premultiplied value under the light. The small offset makes folds visible on black cloth.
function lit(value: number, alpha: number, light: number): number {
  return Math.min(alpha, value * light + (light > 1 ? ((light - 1) * BLACK_LIFT * alpha) / 255 : 0))
}
