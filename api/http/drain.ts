import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Drain {
  isDraining(): boolean
  /** Resolves when every request has a response; calls `onClosing` when the server accepts no further requests. */
  drain(onClosing: () => void): Promise<void>
}

/**
 * Stops a server without losing requests. The load balancer learns of the stop later than the server: for
 * `lingerSeconds` the server continues to respond, and asks each caller to use another connection for the next request.
 * An idle connection that is closed immediately might have a request in flight.
 */
export function createDrain(server: Server, lingerSeconds: number): Drain {
  let isDraining = false
  server.prependListener('request', (_, response) => {
    if (isDraining) response.setHeader('connection', 'close')
  })
  return {
    isDraining: () => isDraining,
    drain: async (onClosing) => {
      isDraining = true
      await sleep(lingerSeconds * 1000)
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      onClosing()
      await closed
    },
  }
}
