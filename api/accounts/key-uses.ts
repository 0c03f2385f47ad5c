import type { Log } from '../shared/telemetry/log.ts'
import type { ApiKeys } from './api-keys.store.ts'

const INTERVAL_MS = 60_000

export interface KeyUses {
  /** Records that a key was used now. Never waits. */
  note(id: string): void
  /** Writes the recorded uses. On failure, logs and retries with the next flush. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Writes when keys were last used, once a minute in one statement, so that no request waits for the write. */
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
      log.warn({ err: error }, 'writing the last use of API keys failed')
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
