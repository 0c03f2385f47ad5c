import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { decodeImage, encodeImage, resizeBitmap } from '../../api/shared/image/image.ts'
import { bySize } from './size.ts'

/** Max size of an upload. */
const UPLOAD_BYTES = 10 * 1024 * 1024

/** Bytes that are not an image, so that the upload is accepted, stored and rejected. */
export function unreadableFile(): Buffer {
  return Buffer.concat([Buffer.from('no image '), randomBytes(UPLOAD_BYTES - 11)])
}

/** A JPEG of noise, just below the max size. */
export async function heavyPhoto(): Promise<Buffer> {
  const [width, height] = bySize({ smallest: [600, 450], usual: [2400, 1800] })
  const noise = { width, height, channels: 3 as const, data: randomBytes(width * height * 3) }
  for (let quality = 100; ; quality -= 2) {
    const file = await encodeImage(noise, { format: 'jpeg', quality })
    if (file.length <= UPLOAD_BYTES) return file
  }
}

const LARGE_PIXELS = bySize({ smallest: 1_000_000, usual: 12_000_000 })

/** A photo of a person with 12 megapixels, as from a phone. */
export async function largePhoto(): Promise<Buffer> {
  const small = await decodeImage(await readFile(new URL('../samples/persons/down-half-teal.jpg', import.meta.url)))
  const scale = Math.sqrt(LARGE_PIXELS / (small.width * small.height))
  const size = { width: Math.round(small.width * scale), height: Math.round(small.height * scale) }
  return encodeImage(await resizeBitmap(small, size), { format: 'jpeg', quality: 90 })
}
