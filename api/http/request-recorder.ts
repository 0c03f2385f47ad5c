import type { Log } from '../shared/telemetry/log.ts'
import type { RequestEntry, RequestLog } from './request-log.store.ts'

const INTERVAL_MS = 1000
/** Maximum entries between two writes, of all accounts. */
const MAX_BUFFERED = 5000
/** Maximum entries between two writes per account, so that one busy account leaves room for others. */
const MAX_BUFFERED_OF_ACCOUNT = 300

export type DropReason = 'buffer' | 'account' | 'database'

export interface RequestRecorder {
  /** Buffers an entry until the next write; never waits and never throws. */
  record(entry: RequestEntry): void
  /** Writes the buffered entries. */
  flush(): Promise<void>
  stop(): Promise<void>
}

/** Writes the log of requests once a second, so that no request waits for it. Entries that do not fit or cannot be written are dropped and counted. */
export function createRequestRecorder({
  requestLog,
  onDrop,
  log,
}: {
  requestLog: Pick<RequestLog, 'insert'>
  onDrop: (reason: DropReason, count: number) => void
  log: Log
}): RequestRecorder {
  let entries: RequestEntry[] = []
  let counts = new Map<string, number>()
  let written = Promise.resolve()
  let isWriting = false

  const write = async () => {
    const sent = entries
    entries = []
    counts = new Map()
    if (sent.length === 0) return
    isWriting = true
    try {
      await requestLog.insert(sent)
    } catch (error) {
      onDrop('database', sent.length)
      log.warn({ err: error, count: sent.length }, 'log of requests not written')
    } finally {
      isWriting = false
    }
  }
  const flush = () => {
    written = written.then(write)
    return written
  }
  // A slow database gets no second write; meanwhile the buffer fills up to its bound.
  const timer = setInterval(() => isWriting || flush(), INTERVAL_MS)
  timer.unref()
  return {
    record: (entry) => {
      const count = counts.get(entry.accountId) ?? 0
      if (count >= MAX_BUFFERED_OF_ACCOUNT) return onDrop('account', 1)
      if (entries.length >= MAX_BUFFERED) return onDrop('buffer', 1)
      counts.set(entry.accountId, count + 1)
      entries.push(entry)
    },
    flush,
    stop: () => {
      clearInterval(timer)
      return flush()
    },
  }
}
