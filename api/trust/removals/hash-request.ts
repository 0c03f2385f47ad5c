import {
  type Bitmap,
  decodeImage,
  type ImageFile,
  normaliseImage,
  type Rectangle,
  type Requester,
} from '../../shared/image/image.ts'
import { hashImage } from '../../shared/image/image-hash.ts'

/** Photos are stored whole and in this shape, and most results in this shape. */
const SHAPE = 4 / 5

/**
 * Perceptual hashes by which copies of an image are found: of the whole image and of its largest 4:5 part, each also mirrored. Empty
 * for an image that shows too little. The image is not stored.
 * @throws DrapeError as `normaliseImage`
 */
export async function hashRequest(file: ImageFile, requester: Requester): Promise<string[]> {
  const { bytes } = await normaliseImage(file, requester)
  const bitmap = await decodeImage(bytes)
  const found = [await hashImage(bitmap), await hashImage(bitmap, shapedPart(bitmap))]
  return [...new Set(found.flatMap((hashes) => (hashes === null ? [] : [hashes.hash, hashes.mirrored])))]
}

function shapedPart({ width, height }: Bitmap): Rectangle {
  const [w, h] = width > height * SHAPE ? [Math.floor(height * SHAPE), height] : [width, Math.floor(width / SHAPE)]
  return { x: Math.floor((width - w) / 2), y: Math.floor((height - h) / 2), width: w, height: h }
}
