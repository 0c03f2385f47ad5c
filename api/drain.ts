import type { Server } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Drain {
  isDraining(): boolean
  /** Resolves when every request was answered; calls `onClosing` when no further one is taken. */
  drain(onClosing: () => void): Promise<void>
}

/**
 * Ends a server without losing a request. The load balancer learns of the end later than the server itself: for
 * `lingerSeconds` it goes on to answer, and asks each caller to take another connection for what comes next. An idle connection
 * that is closed at once might have a request on its way.
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
