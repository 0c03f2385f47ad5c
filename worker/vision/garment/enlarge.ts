import { type Bitmap, createPlane } from '../raster/plane.ts'
import type { CutOut } from './garment.ts'
import type { Matte } from './matte.ts'

/**
 * Scales the cutout to the photo's own size: alpha is interpolated between the matte's pixels, colours are the photo's own
 * where the matte is solid, and the matte's cleaned colours along the edge.
 */
export function enlargeMatte(image: Bitmap, { alpha, colours, solid }: Matte): Pick<CutOut, 'colours' | 'alpha'> {
  const { width, height, channels, data } = image
  const out: Bitmap = { width, height, channels: 3, data: new Uint8Array(width * height * 3) }
  const cover = createPlane(image)
  const columns = taps(width, alpha.width)
  const rows = taps(height, alpha.height)
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

// Bilinear with half-pixel centres: the two source pixels of every target pixel, and the weight of the second.
function taps(to: number, from: number): { first: Int32Array; second: Int32Array; share: Float64Array } {
  const first = new Int32Array(to)
  const second = new Int32Array(to)
  const share = new Float64Array(to)
  for (let i = 0; i < to; i++) {
    const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1)
    first[i] = Math.floor(at)
    second[i] = Math.min(first[i] + 1, from - 1)
    share[i] = at - first[i]
  }
  return { first, second, share }
}
