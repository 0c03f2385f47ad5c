import { DrapeError } from '../../api/shared/errors.ts'
import type { SafetyPolicy } from '../../api/shared/generation.ts'
import type { Rectangle } from '../../api/shared/image.ts'
import { hashImage, type ImageHashes } from '../../api/shared/image-hash.ts'
import type { Log } from '../../api/shared/log.ts'
import type { AskList, HashedImage } from './list.ts'

export interface ScreenedImages {
  readonly photo: Uint8Array
  /** The part of the photo that the engine uses; null: all of it, or unknown yet. */
  readonly crop: Rectangle | null
  readonly garment: Uint8Array
}

/** Hashes of the photo, whole and as it is used, and of the product image. An image with too little detail has none. */
export async function hashTryOn({ photo, crop, garment }: ScreenedImages): Promise<readonly HashedImage[]> {
  const [whole, part, product] = await Promise.all([hash(photo), crop && hash(photo, crop), hash(garment)])
  return [
    { image: 'person' as const, hashes: [whole, part].filter((found) => found !== null) },
    { image: 'product' as const, hashes: [product].filter((found) => found !== null) },
  ].filter(({ hashes }) => hashes.length > 0)
}

/** Null also for a damaged image, which the engine refuses. */
async function hash(bytes: Uint8Array, part?: Rectangle): Promise<ImageHashes | null> {
  try {
    return await hashImage(bytes, part)
  } catch (error) {
    if (error instanceof DrapeError && !error.retryable) return null
    throw error
  }
}

/**
 * Asks the operator's list about the images. Without an answer, `strict` refuses, and `standard` returns a warning.
 * @throws DrapeError IMAGE_LISTED, SAFETY_UNAVAILABLE
 */
export async function screen(
  images: readonly HashedImage[],
  { policy, askList, log }: { policy: SafetyPolicy; askList: AskList; log: Log },
): Promise<readonly string[]> {
  if (images.length === 0) return []
  const matches = await askList(images).catch((error: unknown) => {
    log.warn({ err: error }, 'the safety list did not answer')
    return null
  })
  if (matches === null) {
    if (policy.level === 'standard') return ['SAFETY_CHECK_SKIPPED']
    throw new DrapeError('SAFETY_UNAVAILABLE', 'The list that images are checked against did not answer.')
  }
  const [match] = matches
  if (!match) return []
  const { image, reason } = match
  const name = image === 'person' ? 'photo' : 'product image'
  throw new DrapeError('IMAGE_LISTED', `The ${name} is on the list of the operator: ${reason}.`, { image })
}
