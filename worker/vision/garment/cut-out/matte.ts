import { without } from '../../raster/mask.ts'
import { dilate, erode } from '../../raster/morphology.ts'
import { type Bitmap, type Colours, createPlane, type Mask, maskToPlane, type Plane } from '../../raster/plane.ts'
import { linearTaps } from '../../raster/sample.ts'
import type { CutOut } from '../garment.ts'

/** A garment's edge at the resolution of its silhouette. */
interface Matte {
  /** 0 to 1. */
  readonly alpha: Plane
  /** sRGB. The background's spill is removed from the pixels at and next to the edge. */
  readonly colours: Colours
  /** 1 where the photo's own colour needs no correction. */
  readonly solid: Mask
}

/** Sampling windows are wider than the band itself, so that they include both sides of it. */
interface Band {
  readonly inside: Mask
  readonly outside: Mask
  readonly radius: number
}

/**
 * Soft alpha in a band along the silhouette: the position of each pixel's colour between the colours of the nearby background and
 * the nearby garment. Where the two hardly differ (white on white) the silhouette's own edge is used. `colours` is sRGB; `clean`
 * marks the pixels that can represent the background.
 */
export function matte(colours: Colours, silhouette: Mask, clean: Mask): Matte {
  const radius = Math.max(2, Math.round(0.004 * Math.max(silhouette.width, silhouette.height)))
  const inside = erode(silhouette, radius)
  const grown = dilate(silhouette, radius)
  const outside = without(clean, grown)
  const alpha = maskToPlane(inside)
  const pixels = bandPixels(inside, grown)
  for (const i of pixels)
    alpha.data[i] = bandAlpha(colours, silhouette, { pixel: i, band: { inside, outside, radius } })
  const solid = solidPixels(silhouette, alpha)
  return { alpha, solid, colours: withoutSpill(colours, solid, dilate(grown, 2)) }
}

function bandPixels(inside: Mask, grown: Mask): number[] {
  const pixels: number[] = []
  for (let i = 0; i < grown.data.length; i++) if (grown.data[i] && !inside.data[i]) pixels.push(i)
  return pixels
}

function bandAlpha(colours: Colours, silhouette: Mask, { pixel, band }: { pixel: number; band: Band }): number {
  const edge = softEdge(silhouette, pixel)
  const garment = localMean(colours, band.inside, { pixel, radius: 2 * band.radius })
  // Deep in a narrow gap the nearest background is further away.
  const background =
    localMean(colours, band.outside, { pixel, radius: 2 * band.radius }) ??
    localMean(colours, band.outside, { pixel, radius: 6 * band.radius })
  const within = silhouette.data[pixel] === 1
  if (!garment || !background) return within ? edge : Math.min(edge, 0.6)
  let along = 0
  let square = 0
  for (let c = 0; c < 3; c++) {
    const difference = garment[c] - background[c]
    along += (colours.data[3 * pixel + c] - background[c]) * difference
    square += difference * difference
  }
  const share = Math.min(1, Math.max(0, along / Math.max(1, square)))
  const trust = Math.min(1, Math.max(0, (Math.sqrt(square) - 12) / 28))
  const value = trust * share + (1 - trust) * edge
  return within ? value : Math.min(value, 0.6)
}

// Gaussian of sigma 0.8 px over 5 × 5.
const KERNEL = [-2, -1, 0, 1, 2].map((k) => Math.exp(-(k * k) / 1.28))
const KERNEL_SUM = KERNEL.reduce((a, b) => a + b, 0)

function softEdge({ width, height, data }: Mask, pixel: number): number {
  const x = pixel % width
  const y = (pixel - x) / width
  let sum = 0
  for (let dy = -2; dy <= 2; dy++) {
    const row = Math.min(Math.max(y + dy, 0), height - 1) * width
    for (let dx = -2; dx <= 2; dx++) {
      if (data[row + Math.min(Math.max(x + dx, 0), width - 1)]) sum += KERNEL[dx + 2] * KERNEL[dy + 2]
    }
  }
  return sum / (KERNEL_SUM * KERNEL_SUM)
}

// Mean over every pixel of a small window, or every fourth of a large one; null if the window contains no pixel of the mask.
function localMean(
  { width, height, data }: Colours,
  mask: Mask,
  { pixel, radius }: { pixel: number; radius: number },
): readonly [number, number, number] | null {
  const x = pixel % width
  const y = (pixel - x) / width
  let count = 0
  let red = 0
  let green = 0
  let blue = 0
  const step = radius < 4 ? 1 : 2
  for (let v = Math.max(0, y - radius); v <= Math.min(height - 1, y + radius); v += step) {
    const last = v * width + Math.min(width - 1, x + radius)
    for (let i = v * width + Math.max(0, x - radius); i <= last; i += step) {
      if (!mask.data[i]) continue
      count++
      red += data[3 * i]
      green += data[3 * i + 1]
      blue += data[3 * i + 2]
    }
  }
  return count === 0 ? null : [red / count, green / count, blue / count]
}

function solidPixels(silhouette: Mask, alpha: Plane): Mask {
  const solid = erode(silhouette, 1)
  for (let i = 0; i < solid.data.length; i++) if (alpha.data[i] <= 0.98) solid.data[i] = 0
  return solid
}

// Every pixel near the edge gets the mean of the nearest solid garment pixels.
function withoutSpill(colours: Colours, solid: Mask, region: Mask): Colours {
  const data = colours.data.slice()
  for (let i = 0; i < region.data.length; i++) {
    if (!region.data[i] || solid.data[i]) continue
    for (const radius of [1, 2, 4, 8, 16]) {
      const nearby = localMean(colours, solid, { pixel: i, radius })
      if (!nearby) continue
      data.set(nearby, 3 * i)
      break
    }
  }
  return { ...colours, data }
}

/**
 * Scales the cutout to the photo's own size: alpha is interpolated between the matte's pixels, colours are the photo's own
 * where the matte is solid, and the matte's cleaned colours along the edge.
 */
export function enlargeMatte(image: Bitmap, { alpha, colours, solid }: Matte): Pick<CutOut, 'colours' | 'alpha'> {
  const { width, height, channels, data } = image
  const out: Bitmap = { width, height, channels: 3, data: new Uint8Array(width * height * 3) }
  const cover = createPlane(image)
  const columns = linearTaps(alpha.width, width)
  const rows = linearTaps(alpha.height, height)
  for (let y = 0; y < height; y++) {
    const upper = rows.first[y] * alpha.width
    const lower = rows.second[y] * alpha.width
    const fy = rows.share[y]
    for (let x = 0; x < width; x++) {
      const a = upper + columns.first[x]
      const b = upper + columns.second[x]
      const c = lower + columns.first[x]
      const d = lower + columns.second[x]
      const i = y * width + x
      const to = 3 * i
      const from = channels * i
      const trusted = solid.data[a] & solid.data[b] & solid.data[c] & solid.data[d]
      if (trusted) cover.data[i] = 1
      if (trusted || alpha.data[a] + alpha.data[b] + alpha.data[c] + alpha.data[d] === 0) {
        out.data[to] = data[from]
        out.data[to + 1] = data[from + 1]
        out.data[to + 2] = data[from + 2]
        continue
      }
      const fx = columns.share[x]
      const wa = (1 - fx) * (1 - fy)
      const wb = fx * (1 - fy)
      const wc = (1 - fx) * fy
      const wd = fx * fy
      cover.data[i] = wa * alpha.data[a] + wb * alpha.data[b] + wc * alpha.data[c] + wd * alpha.data[d]
      const own = wa * solid.data[a] + wb * solid.data[b] + wc * solid.data[c] + wd * solid.data[d]
      for (let k = 0; k < 3; k++) {
        const cleaned =
          wa * colours.data[3 * a + k] +
          wb * colours.data[3 * b + k] +
          wc * colours.data[3 * c + k] +
          wd * colours.data[3 * d + k]
        out.data[to + k] = Math.round(data[from + k] * own + cleaned * (1 - own))
      }
    }
  }
  return { colours: out, alpha: cover }
}
