import { v7 as uuidv7 } from 'uuid'
import { isSignedText, type SignedParts, type SigningSecret, signText } from '../shared/signing/signing.ts'

/** IDs that an upload may create: one object and one image. */
export interface UploadNames {
  readonly objectKey: string
  readonly imageId: string
}

export function createUploadKey(): string {
  return `upl_${uuidv7()}`
}

const UPLOAD_KEY = /^upl_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

/** Null for a key that does not belong to an upload. */
export function namesOfUpload(uploadKey: string): UploadNames | null {
  const [, id] = UPLOAD_KEY.exec(uploadKey) ?? []
  return id === undefined ? null : { objectKey: `uploads/${id}.bin`, imageId: `img_${id}` }
}

/** Upload of a link and the link's expiry (ms since 1970). */
interface UploadLink {
  readonly uploadKey: string
  readonly secret: SigningSecret
}

/** Query of a link that allows anyone to send the bytes of one upload. `expiresAt` in ms since 1970. */
export function signUploadLink({ uploadKey, secret, expiresAt }: UploadLink & { readonly expiresAt: number }): string {
  const expires = String(Math.floor(expiresAt / 1000))
  return new URLSearchParams({ expires, signature: signText(secret, partsOf(uploadKey, expires)) }).toString()
}

/** Whether `signUploadLink` created the query for this upload, and it has not expired. `now` in ms since 1970. */
export function isUploadLink({
  uploadKey,
  secret,
  query,
  now,
}: UploadLink & { readonly query: URLSearchParams; readonly now: number }): boolean {
  const expires = query.get('expires') ?? ''
  return isSignedText(secret, partsOf(uploadKey, expires), query.get('signature') ?? '') && now < Number(expires) * 1000
}

function partsOf(uploadKey: string, expires: string): SignedParts {
  return ['upload-link', uploadKey, expires]
}
