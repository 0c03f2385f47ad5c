import { EventEmitter } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { DrapeError } from '../shared/contract/errors.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { WebhookListeners } from './webhook-listeners.store.ts'

export interface ListenerWatch {
  /**
   * Resolves when a delivery waits for the listener; otherwise after `ms`, when the signal is aborted, when the
   * listener polls again or when the API stops. Throws a retryable `SERVICE_UNAVAILABLE` when too many listeners wait.
   */
  untilWaiting(id: string, options: { ms: number; signal: AbortSignal }): Promise<void>
  /** Resolves all pending waits. */
  stop(): void
}

/** Polling interval of the one query that serves all listeners of this process. */
const POLL_MS = 500
const MAX_WAITING = 500

export function createListenerWatch({
  listeners: { findWaiting },
  log,
}: {
  listeners: Pick<WebhookListeners, 'findWaiting'>
  log: Log
}): ListenerWatch {
  const changes = new EventEmitter().setMaxListeners(0)
  let waiting = 0
  let polling = Promise.resolve()
  const stopping = new AbortController()

  const pollWhileWaiting = async () => {
    while (waiting > 0) {
      await sleep(POLL_MS)
      const found = await findWaiting(changes.eventNames() as string[]).catch((error) => {
        log.warn({ err: error }, 'querying the events of listeners failed')
        return []
      })
      for (const id of found) changes.emit(id)
    }
  }
  return {
    untilWaiting: async (id, { ms, signal }) => {
      changes.emit(id)
      if (waiting >= MAX_WAITING) {
        const message = 'Too many listeners wait for events. Poll again after the seconds in Retry-After.'
        throw new DrapeError('SERVICE_UNAVAILABLE', message, { retryable: true, retryAfterSeconds: 5 })
      }
      const until = AbortSignal.any([signal, stopping.signal, AbortSignal.timeout(ms)])
      if (until.aborted) return
      waiting++
      polling = waiting === 1 ? polling.then(pollWhileWaiting) : polling
      const { promise, resolve } = Promise.withResolvers<void>()
      changes.once(id, resolve)
      until.addEventListener('abort', () => resolve(), { once: true })
      await promise
      changes.removeListener(id, resolve)
      waiting--
    },
    stop: () => stopping.abort(),
  }
}
