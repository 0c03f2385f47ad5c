import type { ServerResponse } from 'node:http'

/** Aborts when the caller disconnects before the response is complete. */
export function disconnectSignal({ res }: { readonly res: ServerResponse }): AbortSignal {
  const disconnected = new AbortController()
  if (res.destroyed) disconnected.abort()
  else res.once('close', () => res.writableFinished || disconnected.abort())
  return disconnected.signal
}
