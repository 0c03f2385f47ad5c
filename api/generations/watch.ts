import { EventEmitter, on } from 'node:events'
import { compileCheck } from '../shared/contract/schema.ts'
import {
  type GenerationChange,
  GenerationChangeSchema,
  generationChannel,
  isNewer,
  isTerminal,
} from '../shared/generations/generation.ts'
import type { GenerationRecord, Generations } from '../shared/generations/generations.store.ts'
import type { Subscriptions } from '../shared/queue/pub-sub.ts'

export interface GenerationWatch {
  /**
   * Yields the current generation, then every change of status or progress, until the generation ends, the signal is
   * aborted or the API stops. Yields nothing when the generation does not exist.
   */
  follow(id: string, signal: AbortSignal): AsyncGenerator<GenerationRecord, void, undefined>
  /**
   * Resolves to the ended generation, or to its current state when the signal is aborted or the API stops; null when it
   * does not exist.
   */
  untilEnded(id: string, signal: AbortSignal): Promise<GenerationRecord | null>
  /** Ends all watches. */
  stop(): void
}

/** Polling interval of watched generations, for changes whose message was lost. */
const POLL_MS = 2000

const checkChange = compileCheck(GenerationChangeSchema)

/** All watches are polled in one turn of the event loop, of which `generations` reads with one statement. */
export function createGenerationWatch({
  generations,
  subscriptions,
}: {
  generations: Pick<Generations, 'find'>
  subscriptions: Subscriptions
}): GenerationWatch {
  const stopping = new AbortController()
  const polls = new EventEmitter().setMaxListeners(0)
  setInterval(() => polls.emit('poll'), POLL_MS).unref()

  const watch: GenerationWatch = {
    follow: async function* (id, signal) {
      const until = AbortSignal.any([signal, stopping.signal])
      const changes = new EventEmitter()
      const incoming = on(changes, 'change')
      // Before the first read, so that no change is missed.
      const unsubscribe = subscriptions.subscribe(generationChannel(id), (message) => {
        const result = checkChange(message)
        if (result.ok) changes.emit('change', result.value)
      })
      const poll = async () => {
        const record = await generations.find(id).catch(() => null)
        if (record)
          changes.emit('change', { ...record, updatedAt: record.updatedAt.getTime() } satisfies GenerationChange)
      }
      polls.on('poll', poll)
      const end = () => incoming.return?.()
      until.addEventListener('abort', end)
      try {
        if (!until.aborted) yield* latest(incoming, () => generations.find(id))
      } finally {
        until.removeEventListener('abort', end)
        polls.off('poll', poll)
        unsubscribe()
        await end()
      }
    },
    untilEnded: async (id, signal) => {
      let last: GenerationRecord | null = null
      for await (const generation of watch.follow(id, signal)) last = generation
      return last ?? generations.find(id)
    },
    stop: () => stopping.abort(),
  }
  return watch
}

async function* latest(
  incoming: AsyncIterable<GenerationChange[]>,
  find: () => Promise<GenerationRecord | null>,
): AsyncGenerator<GenerationRecord, void, undefined> {
  let record = await find()
  if (record) yield record
  if (!record || isTerminal(record.status)) return
  for await (const [change] of incoming) {
    // A message may be late, or repeat a change that a read has found.
    if (!isNewer(change, record)) continue
    // During processing a message contains all changes; other states have fields that are only in Postgres.
    record =
      change.status === 'PROCESSING'
        ? { ...record, status: change.status, progress: change.progress, updatedAt: new Date(change.updatedAt) }
        : await find()
    if (record) yield record
    if (!record || isTerminal(record.status)) return
  }
}

/** Event ID of a generation's state: a number that grows with every change. */
export function eventId({ updatedAt, progress }: GenerationRecord): string {
  return `${updatedAt.getTime()}.${String(Math.round((progress ?? 0) * 1000)).padStart(4, '0')}`
}
