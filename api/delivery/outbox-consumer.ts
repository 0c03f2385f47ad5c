import { setTimeout as sleep } from 'node:timers/promises'
import type { Log } from '../shared/log.ts'
import { createPasses } from './passes.ts'

export interface OutboxConsumer {
  /** There may be work: claims now instead of after the idle time. A pause after a failure goes on. */
  wake(): void
  /** Aborts the signal of the handlers, claims nothing more, and resolves when every handler has ended. */
  stop(): Promise<void>
}

export interface Claiming {
  /** Items to claim at most. */
  readonly limit: number
  /** Items in flight in this process, by key. Empty without `keyOf`. */
  readonly inFlight: Readonly<Record<string, number>>
}

export interface Claimed<Item> {
  readonly items: readonly Item[]
  /** ms until the next claim; default 0 after items, otherwise the idle time. */
  readonly againMs?: number
}

export interface Handling {
  /** Aborted by `stop`. */
  readonly signal: AbortSignal
  /** Claims nothing for this long, because the receiver of all items is unavailable. */
  pause(ms: number): void
}

export interface OutboxConsumerOptions<Item> {
  /** Owner of the log messages, such as `webhook`. */
  readonly name: string
  /** Items in flight at a time. */
  readonly concurrency: number
  /** Takes items for the time of a lease, so that the items of a process that dies are claimed again. */
  readonly claim: (claiming: Claiming) => Promise<Claimed<Item>>
  /** Delivers an item and records the result. A rejection is logged, and pauses the claims. */
  readonly handle: (item: Item, handling: Handling) => Promise<void>
  /**
   * The account, shop or endpoint of an item. `claim` then limits the items of each key or takes the keys in turn, so it is repeated
   * whenever an item has ended.
   */
  readonly keyOf?: (item: Item) => string
  /** ms between two claims while nothing waits. */
  readonly idleMs: number
  /** ms without claims after a failure of `claim` or `handle`, for example while Postgres is unavailable. */
  readonly failureMs: number
  readonly log: Log
}

/**
 * Delivers the items of an outbox: claims as many as may be in flight, handles them concurrently, and claims more as soon as one ends.
 * Any number of processes may consume the same outbox.
 */
export function startOutboxConsumer<Item>(options: OutboxConsumerOptions<Item>): OutboxConsumer {
  const { name, concurrency, claim, handle, keyOf, idleMs, failureMs, log } = options
  const stopping = new AbortController()
  const pass = createPasses(name, log)
  const bell = createBell()
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
    if (keyOf || inFlight.size >= concurrency) bell.ring()
    inFlight.delete(item)
  }
  /** Returns ms until the next claim. */
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
      bell.hush()
      const waitMs = await claimMore()
      if (waitMs > 0) await bell.rung(waitMs)
    }
    await Promise.all(inFlight.values())
  }
  const consuming = consume()
  return {
    wake: bell.ring,
    stop: async () => {
      stopping.abort()
      bell.ring()
      await consuming
    },
  }
}

function countByKey<Item>(items: Iterable<Item>, keyOf?: (item: Item) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  if (keyOf) for (const key of [...items].map(keyOf)) counts[key] = (counts[key] ?? 0) + 1
  return counts
}

/** Ends a wait when it rings, or rang since it was hushed. */
function createBell() {
  let isRung = false
  let wake = () => {}
  return {
    ring: () => {
      isRung = true
      wake()
    },
    hush: () => {
      isRung = false
    },
    /** Resolves after a ring, at the latest after `ms`. */
    rung: (ms: number) =>
      new Promise<void>((resolve) => {
        if (isRung) return resolve()
        const timer = setTimeout(resolve, ms)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      }),
  }
}
