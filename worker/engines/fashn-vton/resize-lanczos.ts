import type { Bytes } from '../../vision/raster/bytes.ts'
import type { Size } from '../../vision/raster/plane.ts'

const REACH = 3
const ONE = 2 ** 22

/**
 * Resizes with Pillow's 8-bit Lanczos filter, byte for byte: horizontally first, rounded, then vertically. The model was trained on
 * images that were reduced with this filter. Source: Pillow 12, `Resample.c`, where weights are integer multiples of 2⁻²².
 */
export function resizeLanczos(image: Bytes, size: Size): Bytes {
  const across = image.width === size.width ? image : resizeRows(image, size.width)
  return across.height === size.height ? across : resizeColumns(across, size.height)
}

interface Taps {
  readonly first: number
  readonly weights: readonly number[]
}

function tapsBetween(from: number, to: number): Taps[] {
  const ratio = from / to
  const scale = Math.max(ratio, 1)
  return Array.from({ length: to }, (_, o) => {
    const centre = (o + 0.5) * ratio
    const first = Math.max(0, Math.trunc(centre - REACH * scale + 0.5))
    const end = Math.min(from, Math.trunc(centre + REACH * scale + 0.5))
    const raw = Array.from({ length: end - first }, (_, i) => lanczos((first + i - centre + 0.5) / scale))
    const sum = raw.reduce((total, weight) => total + weight, 0)
    return { first, weights: raw.map((weight) => roundHalfAwayFromZero((weight / sum) * ONE)) }
  })
}

function lanczos(t: number): number {
  return t >= -REACH && t < REACH ? sinc(t) * sinc(t / REACH) : 0
}

function sinc(t: number): number {
  return t === 0 ? 1 : Math.sin(Math.PI * t) / (Math.PI * t)
}

function roundHalfAwayFromZero(value: number): number {
  return Math.trunc(value + (value < 0 ? -0.5 : 0.5))
}

function resizeRows({ width, height, channels, data }: Bytes, to: number): Bytes {
  const taps = tapsBetween(width, to)
  const out = new Uint8ClampedArray(to * height * channels)
  for (let y = 0, at = 0; y < height; y++) {
    for (const { first, weights } of taps) {
      const start = (y * width + first) * channels
      for (let c = 0; c < channels; c++, at++) out[at] = weightedSum(data, start + c, { weights, stride: channels })
    }
  }
  return { width: to, height, channels, data: new Uint8Array(out.buffer) }
}

function resizeColumns({ width, height, channels, data }: Bytes, to: number): Bytes {
  const stride = width * channels
  const out = new Uint8ClampedArray(stride * to)
  for (const [y, { first, weights }] of tapsBetween(height, to).entries()) {
    for (let i = 0; i < stride; i++) out[y * stride + i] = weightedSum(data, first * stride + i, { weights, stride })
  }
  return { width, height: to, channels, data: new Uint8Array(out.buffer) }
}

function weightedSum(
  data: Uint8Array,
  start: number,
  { weights, stride }: { weights: readonly number[]; stride: number },
): number {
  let sum = ONE / 2
  for (let k = 0, at = start; k < weights.length; k++, at += stride) sum += weights[k] * data[at]
  return Math.floor(sum / ONE)
}
