import { randomBase62 } from '../shared/process/base62.ts'
import { isSignedText, type SigningSecret, signText } from '../shared/signing/signing.ts'

const ID_LENGTH = 22
const LIFETIME_SECONDS = 180 * 86_400
const TOKEN = /^vis_([0-9A-Za-z]{22})\.(\d{1,12})\.([\w-]{43})$/

interface TokenParts {
  readonly shopId: string
  readonly secret: SigningSecret
  /** Current time in ms since 1970. */
  readonly now: number
}

/**
 * Issues a token that identifies a new visitor of a shop for 180 days. Only the service can create tokens; a visitor
 * cannot choose the ID.
 */
export function issueVisitorToken({ shopId, secret, now }: TokenParts): { visitorToken: string; expiresAt: Date } {
  const id = randomBase62(ID_LENGTH)
  const expires = Math.floor(now / 1000) + LIFETIME_SECONDS
  const signature = signText(secret, ['visitor', shopId, id, String(expires)])
  return { visitorToken: `vis_${id}.${expires}.${signature}`, expiresAt: new Date(expires * 1000) }
}

/**
 * The ID of the visitor; null for a token of another shop, an expired token, and a token that the service did not
 * issue.
 */
export function readVisitorToken(token: string, { shopId, secret, now }: TokenParts): string | null {
  const [, id, expires, signature] = TOKEN.exec(token) ?? []
  if (id === undefined || !isSignedText(secret, ['visitor', shopId, id, expires], signature)) return null
  return now < Number(expires) * 1000 ? id : null
}
