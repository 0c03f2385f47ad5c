import type { WriteOptions } from './request.ts'

/** One key for all attempts of the call. */
export function withIdempotencyKey({ signal, idempotencyKey = createKey() }: WriteOptions): WriteOptions {
  return { signal, idempotencyKey }
}

/** A unique text. `crypto.randomUUID` is missing in pages without TLS. */
export function createKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
