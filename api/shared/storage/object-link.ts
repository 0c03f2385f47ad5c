import { createHmac, timingSafeEqual } from 'node:crypto'
import { DrapeError } from '../errors.ts'

interface ObjectLink {
  readonly key: string
  readonly secret: string
}

/**
 * The query of a link to an object of the `file:` storage: `expires`, `signature` and, when given, `filename`.
 * @param expiresAt ms since 1970; the link is good until the end of that second
 * @throws DrapeError INTERNAL_ERROR when there is no secret
 */
export function signObjectLink({
  key,
  secret,
  expiresAt,
  filename,
}: ObjectLink & { readonly expiresAt: number; readonly filename?: string }): URLSearchParams {
  const query = new URLSearchParams({ expires: String(Math.ceil(expiresAt / 1000)) })
  if (filename !== undefined) query.set('filename', filename)
  query.set('signature', signatureOf({ key, secret }, query))
  return query
}

/**
 * Whether the query was made by `signObjectLink` with this secret for this key, and has not expired.
 * @param now ms since 1970
 */
export function verifyObjectLink({
  key,
  secret,
  query,
  now,
}: ObjectLink & { readonly query: URLSearchParams; readonly now: number }): boolean {
  const given = Buffer.from(query.get('signature') ?? '', 'latin1')
  const expected = Buffer.from(signatureOf({ key, secret }, query), 'latin1')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false
  return now <= Number(query.get('expires')) * 1000
}

function signatureOf({ key, secret }: ObjectLink, query: URLSearchParams): string {
  if (!secret) throw new DrapeError('INTERNAL_ERROR', 'Links to objects need a signing secret.')
  // The first part keeps these signatures apart from others made with the same secret; JSON keeps the parts apart.
  const signed = JSON.stringify(['object-link', key, query.get('expires'), query.get('filename')])
  return createHmac('sha256', secret).update(signed).digest('base64url')
}
