import type { ServerResponse } from 'node:http'

/** Aborts when the connection closes before the response is complete: the caller has gone. */
export function hangUpOf({ res }: { readonly res: ServerResponse }): AbortSignal {
  const gone = new AbortController()
  if (res.destroyed) gone.abort()
  else res.once('close', () => res.writableFinished || gone.abort())
  return gone.signal
}
