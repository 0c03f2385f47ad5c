import { isSignedText, type SigningSecret, signText } from '../../shared/signing/signing.ts'

/** A refusal can be appealed for 90 days, and an answer is stored for 90 days after it. */
const LIFETIME_SECONDS = 180 * 86_400
const REFERENCE = /^([\w-]{1,100})\.(\d{1,12})\.([\w-]{43})$/

/** A refused generation. */
interface AppealableRefusal {
  readonly id: string
  readonly refusedAt: Date
}

/**
 * URLs with the reference of a refusal: only the service can create one, and it works for 180 days after the refusal. A refusal has one
 * reference.
 */
export function createAppealUrls({ publicUrl, secret }: { publicUrl: string; secret: SigningSecret }) {
  const base = publicUrl.replace(/\/+$/, '')
  return ({ id, refusedAt }: AppealableRefusal): string => {
    const name = id.replace(/^gen_/, '')
    const expires = String(Math.floor(refusedAt.getTime() / 1000) + LIFETIME_SECONDS)
    return `${base}/appeal/${name}.${expires}.${signText(secret, ['appeal', name, expires])}`
  }
}

/** The ID of the refused generation; null for an expired reference, and one that the service did not create. `now` is in ms since 1970. */
export function readAppealReference(
  reference: string,
  { secret, now }: { readonly secret: SigningSecret; readonly now: number },
): string | null {
  const [, name, expires, signature] = REFERENCE.exec(reference) ?? []
  if (name === undefined || !isSignedText(secret, ['appeal', name, expires], signature)) return null
  return now < Number(expires) * 1000 ? `gen_${name}` : null
}
