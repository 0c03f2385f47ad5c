import type { Log } from '../shared/log.ts'
import type { ApiKeys } from '../stores/api-keys.ts'

const INTERVAL_MS = 60_000

export interface KeyUses {
  /** Notes that a key was used now; never waits. */
  note(id: string): void
  /** Writes what was noted. A failure is logged, and the uses are written the next time. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Writes when keys were last used, once a minute in one statement for all of them, so that no request waits for it. */
export function createKeyUses({
  keys,
  log,
  now = Date.now,
}: {
  keys: Pick<ApiKeys, 'noteUses'>
  log: Log
  now?: () => number
}): KeyUses {
  let used = new Map<string, number>()
  const flush = async () => {
    if (used.size === 0) return
    const writing = used
    used = new Map()
    const uses = [...writing].map(([id, at]) => ({ id, secondsAgo: Math.max(0, (now() - at) / 1000) }))
    try {
      await keys.noteUses(uses)
    } catch (error) {
      used = new Map([...writing, ...used])
      log.warn({ err: error }, 'last use of API keys not written')
    }
  }
  const timer = setInterval(flush, INTERVAL_MS)
  timer.unref()
  return {
    note: (id) => void used.set(id, now()),
    flush,
    stop: () => {
      clearInterval(timer)
      return flush()
    },
  }
}
