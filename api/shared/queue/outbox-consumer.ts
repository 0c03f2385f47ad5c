import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../telemetry/log.ts'
import { createPasses } from './passes.ts'

export interface OutboxConsumer {
  /** Claims immediately instead of after the idle time. Does not end a pause after a failure. */
  wake(): void
  /** Aborts the signal of the handlers, claims nothing more, and resolves when every handler has ended. */
  stop(): Promise<void>
}

export interface Claiming {
  /** Maximum number of items to claim. */
  readonly limit: number
  /** Items in flight in this process, by key. Empty without `keyOf`. */
  readonly inFlight: Readonly<Record<string, number>>
}

export interface Claimed<Item> {
  readonly items: readonly Item[]
  /** ms until the next claim. Default 0 after items, otherwise the idle time. */
  readonly againMs?: number
}

export interface Handling {
  /** Aborted by `stop`. */
  readonly signal: AbortSignal
  /** Claims nothing for this long, because the receiver of all items is unavailable. */
  pause(ms: number): void
}

export interface OutboxConsumerOptions<Item> {
  /** Prefix of log messages, e.g. `webhook`. */
  readonly name: string
  /** Maximum number of items in flight. */
  readonly concurrency: number
  /** Claims items with a lease, so that the items of a dead process are claimed again. */
  readonly claim: (claiming: Claiming) => Promise<Claimed<Item>>
  /** Delivers an item and records the result. An error is logged and pauses claiming. */
  readonly handle: (item: Item, handling: Handling) => Promise<void>
  /**
   * Account, shop or endpoint of an item, for claims that limit the items per key or take keys in turn. With `keyOf`,
   * claims again whenever an item has ended.
   */
  readonly keyOf?: (item: Item) => string
  /** ms between two claims without waiting items. */
  readonly idleMs: number
  /** ms without claims after a failure of `claim` or `handle`, e.g. while Postgres is unavailable. */
  readonly failureMs: number
  readonly log: Log
}

/**
 * Delivers the items of an outbox: claims items up to the limit, handles them concurrently, and claims more when one
 * ends. Any number of processes may consume the same outbox.
 */
export function startOutboxConsumer<Item>(options: OutboxConsumerOptions<Item>): OutboxConsumer {
  const { name, concurrency, claim, handle, keyOf, idleMs, failureMs, log } = options
  const stopping = new AbortController()
  const pass = createPasses(name, log)
  const wakeUp = createWakeUp()
  const inFlight = new Map<Item, Promise<void>>()
  let pausedUntil = 0

  const pause = (ms: number) => {
    pausedUntil = Math.max(pausedUntil, performance.now() + ms)
  }
  const begin = async (item: Item) => {
    const handled = await pass('handle', async () => {
      await handle(item, { signal: stopping.signal, pause })
      return true
    })
    if (!handled) pause(failureMs)
    if (keyOf || inFlight.size >= concurrency) wakeUp.set()
    inFlight.delete(item)
  }
  /** Returns the ms until the next claim. */
  const claimMore = async (): Promise<number> => {
    const limit = concurrency - inFlight.size
    if (limit <= 0) return idleMs
    const claimed = await pass('claim', () => claim({ limit, inFlight: countByKey(inFlight.keys(), keyOf) }))
    if (claimed === null) {
      pause(failureMs)
      return 0
    }
    const { items, againMs = items.length > 0 ? 0 : idleMs } = claimed
    for (const item of items) inFlight.set(item, begin(item))
    return againMs
  }
  const consume = async () => {
    while (!stopping.signal.aborted) {
      const pauseMs = pausedUntil - performance.now()
      if (pauseMs > 0) {
        await sleep(pauseMs, undefined, { signal: stopping.signal }).catch(() => {})
        continue
      }
      wakeUp.reset()
      const waitMs = await claimMore()
      if (waitMs > 0) await wakeUp.wait(waitMs)
    }
    await Promise.all(inFlight.values())
  }
  const consuming = consume()
  return {
    wake: wakeUp.set,
    stop: async () => {
      stopping.abort()
      wakeUp.set()
      await consuming
    },
  }
}

function countByKey<Item>(items: Iterable<Item>, keyOf?: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  if (keyOf) for (const key of [...items].map(keyOf)) counts[key] = (counts[key] ?? 0) + 1
  return counts
}

/** A wake-up signal: `wait` resolves if `set` was called since `reset`, or as soon as it is called. */
function createWakeUp() {
  let isSet = false
  let wake = () => {}
  return {
    set: () => {
      isSet = true
      wake()
    },
    reset: () => {
      isSet = false
    },
    /** Resolves when the signal is set, at the latest after `ms`. */
    wait: (ms: number) =>
      new Promise<void>((resolve) => {
        if (isSet) return resolve()
        const timer = setTimeout(resolve, ms)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
  }
}
