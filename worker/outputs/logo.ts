import { type Rectangle, resizeBitmap } from '../../api/shared/image/image.ts'
import { createCache } from '../../api/shared/process/cache.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import { copyRgb } from '../vision/composite/blend.ts'
import type { Bitmap, Size } from '../vision/raster/plane.ts'

/** Max width and max height of the logo as shares of the width and the height of the bitmap. */
const LOGO_WIDTH = 0.18
const LOGO_HEIGHT = 0.12
const MARGIN = 0.03
const OPACITY = 0.85
/** Max enlargement of a small logo. */
const MAX_ENLARGEMENT = 2

/**
 * Draws a logo, slightly transparent, in the bottom-left corner of the bitmap. Returns RGB in which every pixel outside the
 * logo, and under its fully transparent parts, has the original bytes.
 */
export async function drawLogo(bitmap: Bitmap, logo: Bitmap): Promise<Bitmap> {
  const place = placeLogo(bitmap, logo)
  const out = copyRgb(bitmap)
  blendAt(out, await resizeBitmap(logo, place), place)
  return out
}

/** Position of the logo in px of the bitmap: with the aspect of the logo, at least 1 px, completely inside. */
export function placeLogo(bitmap: Size, logo: Size): Rectangle {
  const scale = Math.min(
    (LOGO_WIDTH * bitmap.width) / logo.width,
    (LOGO_HEIGHT * bitmap.height) / logo.height,
    MAX_ENLARGEMENT,
  )
  const width = Math.max(1, Math.round(logo.width * scale))
  const height = Math.max(1, Math.round(logo.height * scale))
  const margin = Math.round(MARGIN * bitmap.width)
  return {
    x: Math.min(margin, bitmap.width - width),
    y: Math.max(0, bitmap.height - margin - height),
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

/** Loads the bytes of a logo; null if the object does not exist. */
export type LoadLogo = (key: string) => Promise<Uint8Array | null>

/** Loads logos from the storage with a least-recently-used cache. Keys are content-addressed, so entries never become stale. */
export function createLogoLoader(storage: Pick<ObjectStorage, 'get'>): LoadLogo {
  const kept = createCache<Uint8Array>({ max: 32 })
  return async (key) => {
    const bytes = kept.get(key) ?? (await storage.get(key))
    if (!bytes) return null
    kept.set(key, bytes)
    return bytes
  }
}
