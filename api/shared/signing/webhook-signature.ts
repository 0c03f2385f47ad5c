import { createHmac, randomBytes } from 'node:crypto'

const PREFIX = 'whsec_'
const SECRET_BYTES = 32
const MIN_BYTES = 24
const MAX_BYTES = 64

/** A random secret: `whsec_` and base64. */
export function generateWebhookSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** Whether the text is `whsec_` and 24 to 64 bytes in base64. */
export function isWebhookSecret(text: string): boolean {
  const key = keyOf(text)
  return text === PREFIX + key.toString('base64') && key.length >= MIN_BYTES && key.length <= MAX_BYTES
}

export interface SignedMessage {
  readonly id: string
  /** Time of the attempt, in seconds since 1970. */
  readonly timestamp: number
  /** The exact bytes that are sent. */
  readonly body: string
}

/**
 * Value of the header `webhook-signature`: one signature per secret.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function signWebhook({ id, timestamp, body }: SignedMessage, secrets: readonly string[]): string {
  return secrets
    .map((secret) => createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest('base64'))
    .map((signature) => `v1,${signature}`)
    .join(' ')
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '', 'base64')
}
