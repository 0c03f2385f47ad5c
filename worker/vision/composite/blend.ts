import { boundsOf } from '../raster/crop.ts'
import type { Bitmap, Plane } from '../raster/plane.ts'
import { linearTaps, resizeArea } from '../raster/sample.ts'

/**
 * Blends an engine's result over the photo that it was made from: photo · (1 − change) + image · change. `image` and
 * `change` have the same size and are resized to the photo. Returns RGB of the photo's size (a photo's alpha is dropped)
 * in which every pixel with a change of exactly 0 has the bytes of the photo.
 */
export function blendChange({ photo, image, change }: { photo: Bitmap; image: Bitmap; change: Plane }): Bitmap {
  const out = copyRgb(photo)
  blendOnto(out, { image, change })
  return out
}

/** Blends in place. The photo must be RGB in its own memory. */
export function blendOnto(photo: Bitmap, { image, change }: { image: Bitmap; change: Plane }): void {
  if (change.width > photo.width) blendReduced(photo, image, change)
  else blendEnlarged(photo, image, change)
}

/** Copies the first three channels of the bitmap. */
export function copyRgb({ width, height, channels, data }: Bitmap): Bitmap {
  // Not `slice`: a Buffer's `slice` shares memory with the Buffer.
  if (channels === 3) return { width, height, channels, data: new Uint8Array(data) }
  const rgb = new Uint8Array(width * height * 3)
  for (let i = 0, j = 0; j < rgb.length; i += 4, j += 3) {
    rgb[j] = data[i]
    rgb[j + 1] = data[i + 1]
    rgb[j + 2] = data[i + 2]
  }
  return { width, height, channels: 3, data: rgb }
}

function blendReduced(out: Bitmap, image: Bitmap, change: Plane): void {
  const step = image.channels
  const weighted = new Float32Array(change.data.length * 4)
  for (let i = 0, from = 0, to = 0; i < change.data.length; i++, from += step, to += 4) {
    const share = change.data[i]
    for (let c = 0; c < 3; c++) weighted[to + c] = image.data[from + c] * share
    weighted[to + 3] = share
  }
  const { width, height } = change
  const reduced = resizeArea({ width, height, channels: 4, data: weighted }, out)
  for (let from = 0, to = 0; from < reduced.length; from += 4, to += 3) {
    const share = reduced[from + 3]
    if (share === 0) continue
    for (let c = 0; c < 3; c++) out.data[to + c] = Math.round(out.data[to + c] * (1 - share) + reduced[from + c])
  }
}

// Interpolates colours weighted by their change, so that an unchanged neighbour does not affect the colour of an edge.
function blendEnlarged(out: Bitmap, image: Bitmap, change: Plane): void {
  const step = image.channels
  const region = boundsOf(change)
  if (!region) return
  const scaleX = out.width / change.width
  const scaleY = out.height / change.height
  const columns = linearTaps(change.width, out.width)
  const rows = linearTaps(change.height, out.height)
  const fromX = Math.max(0, Math.floor((region.x - 1) * scaleX))
  const toX = Math.min(out.width, Math.ceil((region.x + region.width + 1) * scaleX))
  const fromY = Math.max(0, Math.floor((region.y - 1) * scaleY))
  const toY = Math.min(out.height, Math.ceil((region.y + region.height + 1) * scaleY))
  for (let y = fromY; y < toY; y++) {
    const upper = rows.first[y] * change.width
    const lower = rows.second[y] * change.width
    const fy = rows.share[y]
    for (let x = fromX; x < toX; x++) {
      const left = columns.first[x]
      const right = columns.second[x]
      const fx = columns.share[x]
      const a = change.data[upper + left] * (1 - fx) * (1 - fy)
      const b = change.data[upper + right] * fx * (1 - fy)
      const c = change.data[lower + left] * (1 - fx) * fy
      const d = change.data[lower + right] * fx * fy
      const share = a + b + c + d
      if (share === 0) continue
      const to = (y * out.width + x) * 3
      for (let k = 0; k < 3; k++) {
        const colour =
          a * image.data[(upper + left) * step + k] +
          b * image.data[(upper + right) * step + k] +
          c * image.data[(lower + left) * step + k] +
          d * image.data[(lower + right) * step + k]
        out.data[to + k] = Math.round(out.data[to + k] * (1 - share) + colour)
      }
    }
  }
}
