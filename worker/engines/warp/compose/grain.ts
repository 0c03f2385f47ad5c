import { createFieldSampler } from '../../../vision/raster/field-sampler.ts'
import { below } from '../../../vision/raster/mask.ts'
import { erode } from '../../../vision/raster/morphology.ts'
import { type Bitmap, createPlane, type Mask, type Plane, type Size } from '../../../vision/raster/plane.ts'
import { GRAIN, GRAIN_FROM } from './tuning.ts'

/** An invented region, and real pixels of the same kind. Both have the size of the analysed bitmap. */
export interface Invented {
  /** Visible share of the invented region in each pixel, 0 to 1. */
  readonly share: Plane
  readonly like: Mask
}

/**
 * Adds the photo's grain to smoothly filled regions: the pixel noise that real pixels of the same kind have in `photo`. Changes
 * `image` in place, which has the same size. Deterministic.
 */
export function addGrain(image: Bitmap, photo: Bitmap, invented: readonly Invented[]): void {
  for (const { share, like } of invented) {
    const grain = Math.min(GRAIN.max, measureGrain(photo, erode(like, 1)))
    if (grain < GRAIN.min) continue
    const sampler = createFieldSampler([share], { size: photo, touched: [share] })
    for (let y = 0; y < photo.height; y++) {
      const { from, to } = sampler.moveTo(y)
      for (let x = from; x < to; x++) {
        const seen = sampler.fieldsAt(x)[0]
        if (seen > GRAIN_FROM.share) addNoise(image, y * photo.width + x, grain * seen)
      }
    }
  }
}

function addNoise({ data }: Bitmap, index: number, amount: number): void {
  const noise = amount * noiseAt(index)
  for (let k = index * 3; k < index * 3 + 3; k++) data[k] = Math.min(255, Math.max(0, Math.round(data[k] + noise)))
}

/** `share` inside the mask and outside the new garment. */
export function seenShare(mask: Mask, cover: Plane): Plane {
  const share = createPlane(mask)
  for (let i = 0; i < share.data.length; i++) if (mask.data[i]) share.data[i] = Math.max(0, 1 - cover.data[i])
  return share
}

/** Pixels outside the person. */
export function backgroundOf(person: Plane): Mask {
  return below(person, GRAIN_FROM.background)
}

// Standard deviation of a pixel's luma from the mean of its 8 neighbours. Uses the median to ignore edges.
function measureGrain(photo: Bitmap, like: Mask): number {
  const steps: number[] = []
  for (let i = 0; i < like.data.length; i += 3) {
    if (!like.data[i]) continue
    const x = Math.round((((i % like.width) + 0.5) * photo.width) / like.width - 0.5)
    const y = Math.round(((Math.floor(i / like.width) + 0.5) * photo.height) / like.height - 0.5)
    if (x < 1 || y < 1 || x > photo.width - 2 || y > photo.height - 2) continue
    steps.push(Math.abs(stepAt(photo, x, y)))
  }
  if (steps.length < 20) return 0
  const median = Float32Array.from(steps).sort()[steps.length >> 1]
  return (1.4826 * median) / Math.sqrt(1 + 1 / 8)
}

function stepAt({ width, channels, data }: Bitmap & Size, x: number, y: number): number {
  let around = 0
  for (let dy = -1; dy <= 1; dy++) {
    for (let dx = -1; dx <= 1; dx++) around += luma(data, ((y + dy) * width + x + dx) * channels)
  }
  const own = luma(data, (y * width + x) * channels)
  return own - (around - own) / 8
}

function luma(data: Uint8Array, k: number): number {
  return 0.299 * data[k] + 0.587 * data[k + 1] + 0.114 * data[k + 2]
}

// Approximately normal with standard deviation 1: the sum of three uniform values, hashed from the position (after Wang 2007, "Integer
// hash").
function noiseAt(i: number): number {
  let sum = 0
  for (let n = 1; n <= 3; n++) {
    let h = Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(n, 0x85ebca6b)
    h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
    h = Math.imul(h ^ (h >>> 12), 0x297a2d39)
    sum += ((h ^ (h >>> 15)) >>> 0) / 0xffffffff - 0.5
  }
  return 2 * sum
}
