import { setTimeout as sleep } from 'node:timers/promises'
import { createPasses } from '../shared/queue/passes.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { AppliedErasures } from './applied-erasures.store.ts'
import type { ErasureEntry, ErasureLog, StoredErasure } from './erasure-log.ts'

/** Entries that are compared with the database in one statement. */
const PAGE = 1000
/** Entries that are applied together: each time, the database is searched once. Bounds the memory. */
const MAX_APPLIED = 10_000
const MAX_LOGGED_KEYS = 3
const RETRY_MS = 500

export interface RepeatOptions {
  readonly applied: AppliedErasures
  readonly erasureLog: Pick<ErasureLog, 'read'>
  /** Erases what is older than the entries. Returns the number of people of whom the database had data. */
  readonly apply: (entries: readonly ErasureEntry[], signal: AbortSignal) => Promise<number>
  readonly log: Log
}

interface Repeated {
  /** Entries that the database did not know. */
  entries: number
  erased: number
  /** Objects of the log that are not entries. */
  refused: number
  refusedKeys: string[]
  /** Whether the log has none of the entries that the database knows. */
  isForeign: boolean
}

/**
 * Repeats the erasures that the database does not know, because it was restored from a backup. Retries until that has succeeded, while
 * Postgres or the storage is unavailable too. One process at a time works; the others wait for it. What is done is done: after a
 * crash, the next process continues.
 */
export function startRepeatingErasures(options: RepeatOptions) {
  const { applied, log } = options
  const stopping = new AbortController()
  const pass = createPasses('erasure log', log)
  const repeated = Promise.withResolvers<void>()
  let isDone = false
  const work = async () => {
    while (!stopping.signal.aborted) {
      const found = await pass('repeat', () => applied.whileLocked(() => repeat(options, stopping.signal)))
      if (found !== null) {
        report(found, log)
        isDone = true
        return repeated.resolve()
      }
      await sleep(RETRY_MS, undefined, stopping).catch(() => {})
    }
  }
  const working = work()
  return {
    /** Never resolves after `stop`. */
    repeated: repeated.promise,
    /** @throws Error until all erasures are repeated */
    check: async () => {
      if (!isDone) throw new Error('the erasures of the log have not been compared with the database yet')
    },
    stop: async () => {
      stopping.abort()
      await working
    },
  }
}

async function repeat({ applied, erasureLog, apply }: RepeatOptions, signal: AbortSignal): Promise<Repeated> {
  const start = await applied.findStart()
  const found: Repeated = { entries: 0, erased: 0, refused: 0, refusedKeys: [], isForeign: start !== null }
  const onRefused = (key: string) => {
    if (found.refused++ < MAX_LOGGED_KEYS) found.refusedKeys.push(key)
  }
  let unknown: StoredErasure[] = []
  const applyUnknown = async () => {
    if (unknown.length === 0) return
    found.erased += await apply(unknown, signal)
    // Recorded last: an entry that was not applied must stay unknown.
    await applied.insert(unknown.map(({ key }) => key))
    found.entries += unknown.length
    unknown = []
  }
  for await (const page of inPages(erasureLog.read({ after: start ?? undefined, onRefused }))) {
    signal.throwIfAborted()
    const known = await applied.findApplied(page.map(({ key }) => key))
    if (known.size > 0) found.isForeign = false
    unknown.push(...page.filter(({ key }) => !known.has(key)))
    if (unknown.length >= MAX_APPLIED) await applyUnknown()
  }
  await applyUnknown()
  if (start !== null && !found.isForeign) await applied.deleteBefore(start)
  return found
}

async function* inPages<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let page: T[] = []
  for await (const item of items) {
    if (page.push(item) < PAGE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

function report({ entries, erased, refused, refusedKeys, isForeign }: Repeated, log: Log): void {
  if (isForeign)
    log.error('the erasure log lacks the entries that the database knows: check STORAGE_URL, or restore the log')
  if (refused > 0) log.error({ refused, keys: refusedKeys }, 'objects of the erasure log are not entries')
  if (entries > 0) log.warn({ entries, erased }, 'erasures repeated: the database was older than the erasure log')
}
