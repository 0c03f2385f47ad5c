import { solveLinearSystem } from '../../raster/linear-system.ts'
import type { Colours } from '../../raster/plane.ts'
import { median } from '../../raster/statistics.ts'

/** The plain background behind a garment, as smooth colour surfaces that continue behind the garment. */
export interface Background {
  /** Coefficients of 1, x, y, x², xy, y² (6 × 3 in CIE Lab); x and y range from −1 to 1 over the bitmap. */
  readonly surface: Float64Array
  /** Robust deviation of the background's colour from the surface, in ΔE. */
  readonly deviation: number
  /** Share of the image border that the surface explains, 0 to 1. */
  readonly explained: number
  /** Whether the background has no noise at all, as in an image that was cut out and placed on a uniform colour. */
  readonly exact: boolean
}

interface FrameSamples {
  readonly count: number
  /** count × 6: 1, x, y, x², xy, y² with x and y from −1 to 1. */
  readonly terms: Float64Array
  /** count × 3 in Lab. */
  readonly values: Float64Array
}

const TERMS = 6
const MAX_SAMPLES = 6000
const FRAME = 0.04

/**
 * Fits a quadratic surface per Lab channel to the image border (4 % of the short side), excluding outliers such as a sleeve
 * that reaches the border: iterated least squares, each on the samples that the previous iteration explained.
 */
export function fitBackground(lab: Colours): Background {
  const samples = sampleFrame(lab)
  let kept = new Uint8Array(samples.count).fill(1)
  let surface: Float64Array = new Float64Array(TERMS * 3)
  let middle = 0
  for (let round = 0; round < 6; round++) {
    surface = fitSurface(samples, kept)
    const residuals = residualsOf(samples, surface)
    middle = median(residuals.filter((_, i) => kept[i] === 1))
    const limit = 3.5 * spreadOf(middle) + 0.5
    const next = Uint8Array.from(residuals, (r) => (r < limit ? 1 : 0))
    if (shareSet(next) < 0.3 || next.every((keep, i) => keep === kept[i])) break
    kept = next
  }
  return {
    surface,
    deviation: Math.max(0.35, spreadOf(middle)),
    explained: shareSet(kept),
    exact: middle < EXACT,
  }
}

// Max ΔE between a quadratic surface with rounded colours and a uniform colour.
const EXACT = 0.1

function spreadOf(middle: number): number {
  return 1.4826 * middle + 0.3
}

function sampleFrame({ width, height, data }: Colours): FrameSamples {
  const frame = Math.max(4, Math.round(FRAME * Math.min(width, height)))
  const inside = Math.max(0, width - 2 * frame) * Math.max(0, height - 2 * frame)
  // A step without a common factor with the width does not run along columns.
  const step = Math.max(1, Math.floor((width * height - inside) / MAX_SAMPLES)) | 1
  const terms: number[] = []
  const values: number[] = []
  let n = 0
  for (let y = 0; y < height; y++) {
    const skip = y >= frame && y < height - frame
    for (let x = 0; x < width; x++) {
      if (skip && x === frame) x = Math.max(frame, width - frame)
      if (n++ % step !== 0) continue
      const u = (2 * x) / width - 1
      const v = (2 * y) / height - 1
      terms.push(1, u, v, u * u, u * v, v * v)
      const i = (y * width + x) * 3
      values.push(data[i], data[i + 1], data[i + 2])
    }
  }
  return { count: terms.length / TERMS, terms: Float64Array.from(terms), values: Float64Array.from(values) }
}

function fitSurface({ count, terms, values }: FrameSamples, kept: Uint8Array): Float64Array {
  const normal = new Float64Array(TERMS * TERMS)
  const right = new Float64Array(TERMS * 3)
  for (let i = 0; i < count; i++) {
    if (!kept[i]) continue
    for (let a = 0; a < TERMS; a++) {
      const t = terms[i * TERMS + a]
      for (let b = 0; b < TERMS; b++) normal[a * TERMS + b] += t * terms[i * TERMS + b]
      for (let c = 0; c < 3; c++) right[a * 3 + c] += t * values[3 * i + c]
    }
  }
  return solveLinearSystem(normal, right, TERMS)
}

function residualsOf({ count, terms, values }: FrameSamples, surface: Float64Array): Float64Array {
  const residuals = new Float64Array(count)
  for (let i = 0; i < count; i++) {
    let sum = 0
    for (let c = 0; c < 3; c++) {
      let difference = values[3 * i + c]
      for (let a = 0; a < TERMS; a++) difference -= terms[i * TERMS + a] * surface[a * 3 + c]
      sum += difference * difference
    }
    residuals[i] = Math.sqrt(sum)
  }
  return residuals
}

function shareSet(kept: Uint8Array): number {
  let n = 0
  for (let i = 0; i < kept.length; i++) n += kept[i]
  return n / Math.max(1, kept.length)
}
