import { randomUUID } from 'node:crypto'
import { TRY_ON_IMAGES, type TryOnImage } from '../../../api/shared/contract/errors.ts'
import { compileParser, type Static, Type } from '../../../api/shared/contract/schema.ts'
import type { ImageHashes } from '../../../api/shared/image/image-hash.ts'
import { readBounded } from '../../../api/shared/network/bounded-body.ts'
import { createMessage } from '../../../api/shared/signing/webhook-message.ts'

/** Perceptual hashes of the images of a try-on. */
export interface HashedImage {
  readonly image: TryOnImage
  readonly hashes: readonly ImageHashes[]
}

const Answer = Type.Object({
  matches: Type.Array(
    Type.Object({
      image: Type.Enum([...TRY_ON_IMAGES]),
      /** Why the image is listed, as a code of the operator. */
      reason: Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,63}$' }),
    }),
    { maxItems: 100 },
  ),
})
export type ListMatch = Static<typeof Answer>['matches'][number]

/** Asks the operator's list which of the images it contains. Throws when there is no valid answer in time. */
export type AskList = (images: readonly HashedImage[]) => Promise<readonly ListMatch[]>

export interface ListSettings {
  readonly url: string
  /** `whsec_…` */
  readonly secret: string
  /** Default 3 s. */
  readonly timeoutMs?: number
}

const MAX_ANSWER_BYTES = 65_536
const parseAnswer = compileParser(Answer)

/** Posts the hashes, and nothing else, to the list, signed as webhooks are. Does not follow redirects. */
export function createListClient({ url, secret, timeoutMs = 3000 }: ListSettings): AskList {
  return async (images) => {
    const sentAt = new Date()
    const content = { type: 'safety.check', timestamp: sentAt.toISOString(), data: { images } }
    const { headers, body } = createMessage({ eventId: `chk_${randomUUID()}`, sentAt, content }, [secret])
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'error' })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Error(`the list returned ${response.status}`)
    }
    const { bytes, isCut } = await readBounded(response.body, MAX_ANSWER_BYTES)
    if (isCut) throw new Error(`the answer of the list is larger than ${MAX_ANSWER_BYTES} bytes`)
    return parseAnswer(JSON.parse(bytes.toString())).matches
  }
}
