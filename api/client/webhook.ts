import type { WebhookMessage } from './schemas.ts'

/** The webhook has no valid signature of any of the secrets, or an old one. */
export class DrapeWebhookError extends Error {
  override readonly name = 'DrapeWebhookError'
}

export interface ReceivedWebhook {
  /** The received bytes, before any parsing. */
  readonly body: string | Uint8Array
  /** Headers of the request, including `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Maximum clock difference of sender and receiver. */
const TOLERANCE_SECONDS = 300

/**
 * Verifies the signature with any of the secrets `whsec_…` (Standard Webhooks) and returns the event. For servers only:
 * a secret in a page is public. The `webhook-id` is the same in each redelivery.
 * @throws DrapeWebhookError
 */
export async function verifyWebhook(
  { body, headers }: ReceivedWebhook,
  secrets: string | readonly string[],
  { now = Date.now() }: { now?: number } = {},
): Promise<WebhookMessage> {
  const id = headerOf(headers, 'webhook-id')
  const timestamp = headerOf(headers, 'webhook-timestamp')
  const apart = Math.abs(now / 1000 - Number(timestamp))
  if (!/^\d+$/.test(timestamp) || apart > TOLERANCE_SECONDS) {
    throw new DrapeWebhookError('The timestamp of the webhook is too far from the current time.')
  }
  const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body
  const signed = join(new TextEncoder().encode(`${id}.${timestamp}.`), bytes)
  const signatures = headerOf(headers, 'webhook-signature').split(' ').flatMap(readSignature)
  for (const secret of [secrets].flat()) {
    for (const signature of signatures) {
      if (await isSignedBy(secret, { signature, signed })) return JSON.parse(new TextDecoder().decode(bytes))
    }
  }
  throw new DrapeWebhookError('The webhook has no valid signature of a given secret.')
}

function headerOf(headers: ReceivedWebhook['headers'], name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name]
  if (typeof value !== 'string' || value === '') throw new DrapeWebhookError(`The header ${name} is missing.`)
  return value
}

/** Ignores signatures of other versions. */
function readSignature(text: string): Uint8Array<ArrayBuffer>[] {
  const [version, encoded] = text.split(',', 2)
  const bytes = version === 'v1' ? decode(encoded) : null
  return bytes ? [bytes] : []
}

async function isSignedBy(
  secret: string,
  { signature, signed }: { signature: Uint8Array<ArrayBuffer>; signed: Uint8Array<ArrayBuffer> },
): Promise<boolean> {
  const bytes = decode(secret.replace(/^whsec_/, ''))
  if (!bytes || bytes.length === 0) throw new DrapeWebhookError('A secret must be whsec_ followed by base64.')
  const key = await crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
  return crypto.subtle.verify('HMAC', key, signature, signed)
}

function decode(base64: string | undefined): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64 ?? ''), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}
