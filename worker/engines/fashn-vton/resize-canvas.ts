import { type Bytes, createBytes } from '../../vision/raster/bytes.ts'
import type { Size } from '../../vision/raster/plane.ts'
import { roundHalfEven } from './rounding.ts'

const { fround } = Math
const LANCZOS_TAPS = 8
const LANCZOS_ONE = 2048
const MIN_OVERLAP = 1e-3

/**
 * Enlarges with OpenCV's 8 × 8 px Lanczos filter for bytes, byte for byte.
 * Source: OpenCV 4.12, `INTER_LANCZOS4`: weights are 32-bit floats rounded to multiples of 2⁻¹¹ and not normalised to a
 * sum of 1.
 */
export function enlargeLanczos(image: Bytes, { width, height }: Size): Bytes {
  const columns = lanczosTaps(image.width, width)
  const rows = lanczosTaps(image.height, height)
  const { channels } = image
  const stride = width * channels
  // Both passes are exact: no product of these integers reaches 2⁵³.
  const across = new Float64Array(stride * image.height)
  for (let y = 0, at = 0; y < image.height; y++) {
    for (const { places, weights } of columns) {
      for (let c = 0; c < channels; c++, at++) {
        for (let k = 0; k < LANCZOS_TAPS; k++)
          across[at] += weights[k] * image.data[(y * image.width + places[k]) * channels + c]
      }
    }
  }
  const out = new Uint8ClampedArray(stride * height)
  for (const [y, { places, weights }] of rows.entries()) {
    for (let i = 0; i < stride; i++) {
      let sum = LANCZOS_ONE ** 2 / 2
      for (let k = 0; k < LANCZOS_TAPS; k++) sum += weights[k] * across[places[k] * stride + i]
      out[y * stride + i] = Math.floor(sum / LANCZOS_ONE ** 2)
    }
  }
  return { width, height, channels, data: new Uint8Array(out.buffer) }
}

interface Taps {
  readonly places: readonly number[]
  readonly weights: readonly number[]
}

function lanczosTaps(from: number, to: number): Taps[] {
  const ratio = 1 / (to / from)
  return Array.from({ length: to }, (_, o) => {
    const position = fround((o + 0.5) * ratio - 0.5)
    const base = Math.floor(position)
    const places = Array.from({ length: LANCZOS_TAPS }, (_, k) => Math.min(Math.max(base - 3 + k, 0), from - 1))
    return { places, weights: lanczosWeights(fround(position - base)) }
  })
}

function lanczosWeights(fraction: number): number[] {
  const distances = Array.from({ length: LANCZOS_TAPS }, (_, k) => fraction + 3 - k)
  const exact = distances.findIndex((t) => Math.abs(t) < 1e-6)
  if (exact >= 0) return distances.map((_, k) => (k === exact ? LANCZOS_ONE : 0))
  // sin πt only changes its sign from tap to tap, so its magnitude cancels in the normalisation.
  const raw = distances.map((t, k) => fround(((-1) ** k * Math.sin((t * Math.PI) / 4)) / ((t * Math.PI) / 4) ** 2))
  const scale = fround(1 / raw.reduce((sum, weight) => fround(sum + weight), 0))
  return raw.map((weight) => roundHalfEven(fround(fround(weight * scale) * LANCZOS_ONE)))
}

/**
 * Reduces by the mean over each new pixel's area, as OpenCV does for bytes. Source: OpenCV 4.12, `INTER_AREA`: 32-bit weights,
 * slivers under 10⁻³ px ignored, halves rounded to even.
 */
export function reduceArea(image: Bytes, { width, height }: Size): Bytes {
  const { channels } = image
  const stride = width * channels
  const across = new Float32Array(stride * image.height)
  const columns = areaTaps(image.width, width)
  for (let y = 0, at = 0; y < image.height; y++) {
    for (const { first, weights } of columns) {
      for (let c = 0; c < channels; c++, at++) {
        let sum = 0
        for (let k = 0; k < weights.length; k++)
          sum += weights[k] * image.data[(y * image.width + first + k) * channels + c]
        across[at] = sum
      }
    }
  }
  const out = createBytes({ width, height }, channels)
  for (const [y, { first, weights }] of areaTaps(image.height, height).entries()) {
    for (let i = 0; i < stride; i++) {
      let sum = 0
      for (let k = 0; k < weights.length; k++) sum += weights[k] * across[(first + k) * stride + i]
      out.data[y * stride + i] = Math.min(255, roundHalfEven(fround(sum)))
    }
  }
  return out
}

function areaTaps(from: number, to: number): { first: number; weights: number[] }[] {
  const ratio = 1 / (to / from)
  return Array.from({ length: to }, (_, o) => {
    const start = o * ratio
    const stop = start + ratio
    const cell = Math.min(ratio, from - start)
    const last = Math.min(Math.floor(stop), from - 1)
    const next = Math.min(Math.ceil(start), last)
    const before = next - start > MIN_OVERLAP
    const weights = [
      ...(before ? [fround((next - start) / cell)] : []),
      ...Array.from({ length: last - next }, () => fround(1 / cell)),
      ...(stop - last > MIN_OVERLAP ? [fround(Math.min(Math.min(stop - last, 1), cell) / cell)] : []),
    ]
    return { first: before ? next - 1 : next, weights }
  })
}

/** Resizes to the nearest pixel, for values that must not be mixed. Source: OpenCV 4.12, `INTER_NEAREST_EXACT`. */
export function resizeNearest(image: Bytes, { width, height }: Size): Bytes {
  const { channels } = image
  const out = createBytes({ width, height }, channels)
  const columns = nearestPlaces(image.width, width)
  for (const [y, row] of nearestPlaces(image.height, height).entries()) {
    for (const [x, column] of columns.entries()) {
      const from = (row * image.width + column) * channels
      for (let c = 0; c < channels; c++) out.data[(y * width + x) * channels + c] = image.data[from + c]
    }
  }
  return out
}

/** The source index, among `from` pixels, of each of `to` pixels, in 16.16 fixed point. */
export function nearestPlaces(from: number, to: number): number[] {
  const step = Math.floor((from * 65536 + (to >> 1)) / to)
  const start = (step >> 1) - (from % 2)
  return Array.from({ length: to }, (_, o) => Math.floor((step * o + start) / 65536))
}
