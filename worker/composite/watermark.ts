import { type Rectangle, resizeBitmap } from '../../api/shared/image.ts'
import type { Bitmap, Size } from '../raster/plane.ts'
import { copyRgb } from './blend.ts'

/** Shares of the picture's width, and of its height for the second one. */
const LOGO_WIDTH = 0.18
const LOGO_HEIGHT = 0.12
const MARGIN = 0.03
const OPACITY = 0.85
/** A small logo becomes no larger than this many times its own size. */
const MAX_ENLARGEMENT = 2

/**
 * The picture with a logo in its bottom-left corner, slightly transparent. Returns RGB in which every pixel outside of the logo,
 * and under its fully transparent parts, has the picture's own bytes.
 */
export async function addWatermark(picture: Bitmap, logo: Bitmap): Promise<Bitmap> {
  const place = placeWatermark(picture, logo)
  const out = copyRgb(picture)
  blendAt(out, await resizeBitmap(logo, place), place)
  return out
}

/** Where the logo comes to lie, in px of the picture: its own aspect, at least one px, wholly inside. */
export function placeWatermark(picture: Size, logo: Size): Rectangle {
  const scale = Math.min(
    (LOGO_WIDTH * picture.width) / logo.width,
    (LOGO_HEIGHT * picture.height) / logo.height,
    MAX_ENLARGEMENT,
  )
  const width = Math.max(1, Math.round(logo.width * scale))
  const height = Math.max(1, Math.round(logo.height * scale))
  const margin = Math.round(MARGIN * picture.width)
  return {
    x: Math.min(margin, picture.width - width),
    y: Math.max(0, picture.height - margin - height),
    width,
    height,
  }
}

function blendAt(out: Bitmap, logo: Bitmap, { x, y }: Rectangle): void {
  const step = logo.channels
  for (let row = 0; row < logo.height; row++) {
    let to = ((y + row) * out.width + x) * 3
    for (let from = row * logo.width * step; from < (row + 1) * logo.width * step; from += step, to += 3) {
      const share = step === 4 ? (logo.data[from + 3] / 255) * OPACITY : OPACITY
      if (share === 0) continue
      for (let c = 0; c < 3; c++) {
        out.data[to + c] = Math.round(out.data[to + c] * (1 - share) + logo.data[from + c] * share)
      }
    }
  }
}
