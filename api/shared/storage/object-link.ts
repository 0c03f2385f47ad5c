import { isSignedText, type SignedParts, type SigningSecret, signText } from '../signing/signing.ts'

interface ObjectLink {
  readonly key: string
  readonly secret: SigningSecret
}

/**
 * Query of a link to an object of the `file:` storage: `expires`, `signature` and, when given, `filename`.
 * @param expiresAt ms since 1970; the link is valid until the end of that second
 * @throws DrapeError INTERNAL_ERROR when the secret contains no key
 */
export function signObjectLink({
  key,
  secret,
  expiresAt,
  filename,
}: ObjectLink & { readonly expiresAt: number; readonly filename?: string }): URLSearchParams {
  const query = new URLSearchParams({ expires: String(Math.ceil(expiresAt / 1000)) })
  if (filename !== undefined) query.set('filename', filename)
  query.set('signature', signText(secret, partsOf(key, query)))
  return query
}

/**
 * Whether `signObjectLink` created the query with this secret for this key, and the link has not expired.
 * @param now ms since 1970
 */
export function verifyObjectLink({
  key,
  secret,
  query,
  now,
}: ObjectLink & { readonly query: URLSearchParams; readonly now: number }): boolean {
  const isOurs = isSignedText(secret, partsOf(key, query), query.get('signature') ?? '')
  return isOurs && now <= Number(query.get('expires')) * 1000
}

function partsOf(key: string, query: URLSearchParams): SignedParts {
  return ['object-link', key, query.get('expires'), query.get('filename')]
}
