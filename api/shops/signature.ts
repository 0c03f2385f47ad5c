import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

export type QueryParameter = readonly [name: string, value: string]

/**
 * The parameters of a query in the order in which they were sent, decoded as those of forms: a plus is a space. Null when
 * something in it is not the encoding of any text, for which two readers would not read the same.
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
 * What an app proxy of Shopify signs: every parameter but `signature` as `name=value`, repeated ones in one with commas between
 * their values, sorted by bytes, with nothing between. (shopify.dev: "Authenticate app proxies")
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

/** What a plugin signs: five lines, without one at the end. `target` is path and query as sent, `bodyHash` the SHA-256 in hex. */
export function pluginMessage(request: SignedByPlugin): string {
  return [request.method, request.target, request.timestamp, request.nonce, request.bodyHash].join('\n')
}

/** HMAC-SHA256 in lower-case hex. */
export function signMessage(message: string, secret: string): string {
  return createHmac('sha256', secret).update(message).digest('hex')
}

/** Most shops have one secret, two while one replaces another. */
const LIVE_SECRETS = 2

/**
 * Whether the signature is that of the message with one of the secrets. Takes the same time whatever is wrong, and without any
 * secret too.
 */
export function isSignedWith(secrets: readonly string[], message: string, signature: string): boolean {
  return isHmacWith(secrets, message, /^[0-9a-f]{64}$/.test(signature) ? Buffer.from(signature, 'hex') : NO_SIGNATURE)
}

/** The same for a webhook of Shopify, which has the HMAC-SHA256 of its body in base64. The body is read once, piece by piece. */
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

// Compared with where there is no secret or no signature; both are random.
const NO_SECRET = randomBytes(32)
const NO_SIGNATURE = randomBytes(32)

function isHmacWith(secrets: readonly string[], message: string, given: Buffer): boolean {
  const hmacs = liveSecrets(secrets).map((secret) => createHmac('sha256', secret).update(message).digest())
  return isOneOf(hmacs, given)
}

function liveSecrets(secrets: readonly string[]): (string | Buffer)[] {
  return Array.from({ length: LIVE_SECRETS }, (_, i) => secrets[i] ?? NO_SECRET)
}

/** Compares with each, so that the time says nothing. */
function isOneOf(hmacs: readonly Buffer[], given: Buffer): boolean {
  return hmacs.filter((each) => timingSafeEqual(given, each)).length > 0
}
