import { createHash } from 'node:crypto'
import {
  DrapeError,
  type SafetyAllowance,
  TRY_ON_IMAGES,
  type TryOnImage,
} from '../../../api/shared/contract/errors.ts'
import type { SafetyPolicy } from '../../../api/shared/generations/generation.ts'
import type { HashedPair } from '../../../api/shared/generations/worker-calls.ts'
import type { Rectangle } from '../../../api/shared/image/image.ts'
import { hashImage, type ImageHashes } from '../../../api/shared/image/image-hash.ts'
import type { Log } from '../../../api/shared/telemetry/log.ts'
import type { AskList } from './list-client.ts'

export interface ScreenedImages {
  readonly photo: Uint8Array
  /** The part of the photo that the engine uses; null: all of it, or unknown yet. */
  readonly crop: Rectangle | null
  readonly garment: Uint8Array
}

/** Hashes of the photo, whole and as it is used, and of the product image. An image with too little detail has none. */
export async function hashTryOn({ photo, crop, garment }: ScreenedImages): Promise<HashedPair> {
  const [whole, part, product] = await Promise.all([hash(photo), crop && hash(photo, crop), hash(garment)])
  return {
    person: [whole, part].filter((found) => found !== null),
    product: [product].filter((found) => found !== null),
    digests: [digestOf(photo), digestOf(garment)],
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
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

export interface Screening {
  readonly policy: SafetyPolicy
  /** Checks that operators have allowed for this pair. */
  readonly allowances: readonly SafetyAllowance[]
  /** Images that operators blocked; null: the two images together. */
  readonly blocked: readonly (TryOnImage | null)[]
  readonly askList: AskList | null
  readonly log: Log
}

/**
 * Refuses images that operators blocked, and asks the operator's list about the images. Without an answer of the list, `strict` refuses, and
 * `standard` returns a warning.
 * @throws DrapeError IMAGE_LISTED, SAFETY_UNAVAILABLE
 */
export async function screen(
  pair: HashedPair,
  { policy, allowances, blocked, askList, log }: Screening,
): Promise<readonly string[]> {
  const images = TRY_ON_IMAGES.map((image) => ({ image, hashes: pair[image] })).filter(
    ({ hashes }) => hashes.length > 0,
  )
  if (images.length === 0) return []
  const isAllowed = (check: 'blocked' | 'list', image: TryOnImage | null) =>
    allowances.some((allowance) => allowance.check === check && allowance.image === image)
  for (const image of blocked)
    if (!isAllowed('blocked', image)) throw listedError(image, { reason: 'BLOCKED', check: 'blocked' })
  if (askList === null) return []
  const matches = await askList(images).catch((error: unknown) => {
    log.warn({ err: error }, 'the safety list did not answer')
    return null
  })
  if (matches === null) {
    if (policy.level === 'standard') return ['SAFETY_CHECK_SKIPPED']
    throw new DrapeError('SAFETY_UNAVAILABLE', 'The list that images are checked against did not answer.', {
      retryable: true,
    })
  }
  const match = matches.find(({ image }) => !isAllowed('list', image))
  if (match) throw listedError(match.image, { reason: match.reason, check: 'list' })
  return []
}

/** `image` null: photo and product image together. */
function listedError(
  image: TryOnImage | null,
  { reason, check }: { reason: string; check: 'blocked' | 'list' },
): DrapeError {
  const subject =
    image === null
      ? 'The photo together with the product image is'
      : `The ${image === 'person' ? 'photo' : 'product image'} is`
  const message = `${subject} on the list of the operator: ${reason}.`
  return new DrapeError('IMAGE_LISTED', message, { check, ...(image !== null && { image }) })
}
