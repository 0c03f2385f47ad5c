import sharp, { type OutputInfo } from 'sharp'
import { DrapeError } from './errors.ts'

/** A decoded picture: sRGB, 8 bits, interleaved, height × width × channels (3 = RGB, 4 = RGB with straight alpha). */
export interface Bitmap {
  readonly width: number
  readonly height: number
  readonly channels: 3 | 4
  readonly data: Uint8Array
}

const MAX_PIXELS = 50_000_000

// The decoder also reads SVG, TIFF, GIF and more, which callers must never reach, whatever the bytes claim to be.
sharp.block({ operation: ['VipsForeignLoad'] })
sharp.unblock({ operation: ['VipsForeignLoadJpegBuffer', 'VipsForeignLoadPngBuffer', 'VipsForeignLoadWebpBuffer'] })
// Every picture is decoded once, so a cache of operations would only hold memory.
sharp.cache(false)

/**
 * The picture upright by its EXIF orientation, in sRGB, 8 bits: 4 channels when at least one pixel is not opaque, otherwise 3.
 * Of an animation, the first frame.
 * @throws DrapeError INVALID_IMAGE when the bytes are damaged, truncated or no JPEG, PNG or WebP.
 */
export async function decodeImage(bytes: Uint8Array): Promise<Bitmap> {
  try {
    const { data, info } = await sharp(bytes, { failOn: 'warning', limitInputPixels: MAX_PIXELS, autoOrient: true })
      .toColourspace('srgb')
      .raw({ depth: 'uchar' })
      .toBuffer({ resolveWithObject: true })
    return toBitmap(info, data)
  } catch (cause) {
    throw new DrapeError('INVALID_IMAGE', 'The image is damaged or incomplete.', { cause })
  }
}

function toBitmap({ width, height, channels }: OutputInfo, data: Buffer): Bitmap {
  if (channels === 3) return { width, height, channels, data }
  if (channels !== 4) throw new Error(`decoded into ${channels} channels`)
  return isOpaque(data) ? { width, height, channels: 3, data: withoutAlpha(data) } : { width, height, channels, data }
}

function isOpaque(rgba: Uint8Array): boolean {
  for (let i = 3; i < rgba.length; i += 4) if (rgba[i] !== 255) return false
  return true
}

function withoutAlpha(rgba: Uint8Array): Uint8Array {
  const rgb = new Uint8Array((rgba.length / 4) * 3)
  for (let i = 0, j = 0; i < rgba.length; i += 4, j += 3) {
    rgb[j] = rgba[i]
    rgb[j + 1] = rgba[i + 1]
    rgb[j + 2] = rgba[i + 2]
  }
  return rgb
}
