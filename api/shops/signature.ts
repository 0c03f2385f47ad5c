import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export type QueryParameter = readonly [name: string, value: string]

/**
 * The parameters of a query in order, decoded as form data: a plus is a space. Null when the encoding is invalid, so
 * that different parsers could read it differently.
 */
export function decodeQuery(query: string): QueryParameter[] | null {
  try {
    return query
      .split('&')
      .filter((part) => part !== '')
      .map((part) => {
        const [name, ...value] = part.split('=')
        return [decodeText(name), decodeText(value.join('='))]
      })
  } catch {
    return null
  }
}

function decodeText(text: string): string {
  return decodeURIComponent(text.replaceAll('+', ' '))
}

/**
 * Text that a Shopify app proxy signs: every parameter except `signature` as `name=value`, repeated ones joined by
 * commas, sorted by bytes, without separators. (shopify.dev: "Authenticate app proxies")
 */
export function shopifyMessage(parameters: readonly QueryParameter[]): string {
  const signed = parameters.filter(([name]) => name !== 'signature')
  return [...Map.groupBy(signed, ([name]) => name)]
    .map(([name, repeated]) => Buffer.from(`${name}=${repeated.map(([, value]) => value).join(',')}`))
    .sort(Buffer.compare)
    .join('')
}

export interface SignedByPlugin {
  readonly method: string
  readonly target: string
  readonly timestamp: string
  readonly nonce: string
  readonly bodyHash: string
}

/**
 * Text that a plugin signs: 5 lines without a final line break. `target` is path and query as sent, `bodyHash` the
 * SHA-256 as a hex string.
 */
export function pluginMessage(request: SignedByPlugin): string {
  return [request.method, request.target, request.timestamp, request.nonce, request.bodyHash].join('\n')
}

/** HMAC-SHA256 as a lower-case hex string. */
export function signMessage(message: string, secret: string): string {
  return createHmac('sha256', secret).update(message).digest('hex')
}

/** Most shops have one secret, and two during a rotation. */
const LIVE_SECRETS = 2

/** Whether the signature matches the message with one of the secrets. Takes constant time, with or without secrets. */
export function isSignedWith(secrets: readonly string[], message: string, signature: string): boolean {
  return isHmacWith(secrets, message, /^[0-9a-f]{64}$/.test(signature) ? Buffer.from(signature, 'hex') : NO_SIGNATURE)
}

/** Like `isSignedWith`, for a Shopify webhook: base64 HMAC-SHA256 of its body. Streams the body once. */
export async function isWebhookSignedWith(
  secrets: readonly string[],
  body: AsyncIterable<Buffer>,
  signature: string,
): Promise<boolean> {
  const bytes = Buffer.from(signature, 'base64')
  const isCanonical = bytes.length === NO_SIGNATURE.length && bytes.toString('base64') === signature
  const hmacs = liveSecrets(secrets).map((secret) => createHmac('sha256', secret))
  for await (const chunk of body) for (const each of hmacs) each.update(chunk)
  return isOneOf(
    hmacs.map((each) => each.digest()),
    isCanonical ? bytes : NO_SIGNATURE,
  )
}

// Compared when there is no secret or no signature; random.
const NO_SECRET = randomBytes(32)
const NO_SIGNATURE = randomBytes(32)

function isHmacWith(secrets: readonly string[], message: string, given: Buffer): boolean {
  const hmacs = liveSecrets(secrets).map((secret) => createHmac('sha256', secret).update(message).digest())
  return isOneOf(hmacs, given)
}

function liveSecrets(secrets: readonly string[]): (string | Buffer)[] {
  return Array.from({ length: LIVE_SECRETS }, (_, i) => secrets[i] ?? NO_SECRET)
}

/** Compares with each HMAC, so that the duration reveals nothing. */
function isOneOf(hmacs: readonly Buffer[], given: Buffer): boolean {
  return hmacs.filter((each) => timingSafeEqual(given, each)).length > 0
}
