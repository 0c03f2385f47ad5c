import { EventEmitter, on } from 'node:events'
import {
  type GenerationChange,
  GenerationChangeSchema,
  generationChannel,
  isNewer,
  isTerminal,
} from '../shared/generation.ts'
import type { Subscriptions } from '../shared/pub-sub.ts'
import { compileCheck } from '../shared/schema.ts'
import type { GenerationRecord, Generations } from '../shared/stores/generations.ts'

export interface GenerationWatch {
  /**
   * The generation as it is now, then again after every change of status or progress, until it has ended, the signal is
   * aborted or the API stops. Nothing when it does not exist.
   */
  follow(id: string, signal: AbortSignal): AsyncGenerator<GenerationRecord, void, undefined>
  /** The generation when it has ended, or as it is when the signal is aborted or the API stops; null when it does not exist. */
  untilEnded(id: string, signal: AbortSignal): Promise<GenerationRecord | null>
  /** Ends everything that is being followed. */
  stop(): void
}

/** How often everything that is followed is read from Postgres: a lost message is no later than this. */
const LOOK_MS = 2000

const checkChange = compileCheck(GenerationChangeSchema)

export function createGenerationWatch({
  generations,
  subscriptions,
}: {
  generations: Pick<Generations, 'find' | 'findMany'>
  subscriptions: Subscriptions
}): GenerationWatch {
  const changes = new EventEmitter().setMaxListeners(0)
  const followed = new Map<string, { followers: number; unsubscribe: () => void }>()
  const stopping = new AbortController()
  let looking: NodeJS.Timeout | undefined

  const look = async () => {
    const records = await generations.findMany([...followed.keys()]).catch(() => [])
    for (const { id, status, progress, updatedAt } of records) {
      changes.emit(id, { id, status, progress, updatedAt: updatedAt.getTime() } satisfies GenerationChange)
    }
  }
  const hold = (id: string) => {
    const known = followed.get(id)
    const unsubscribe =
      known?.unsubscribe ?? subscriptions.subscribe(generationChannel(id), (message) => publishChange(changes, message))
    followed.set(id, { followers: (known?.followers ?? 0) + 1, unsubscribe })
    looking ??= setInterval(look, LOOK_MS)
  }
  const release = (id: string) => {
    const known = followed.get(id)
    if (!known) return
    if (known.followers > 1) {
      followed.set(id, { ...known, followers: known.followers - 1 })
      return
    }
    known.unsubscribe()
    followed.delete(id)
    if (followed.size > 0) return
    clearInterval(looking)
    looking = undefined
  }

  const watch: GenerationWatch = {
    follow: async function* (id, signal) {
      const until = AbortSignal.any([signal, stopping.signal])
      // Listening starts before the first look, so that nothing falls between the two.
      hold(id)
      const incoming = on(changes, id)
      const end = () => incoming.return?.()
      until.addEventListener('abort', end)
      try {
        if (!until.aborted) yield* latest(incoming, () => generations.find(id))
      } finally {
        until.removeEventListener('abort', end)
        await end()
        release(id)
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
    // Messages may be late, or come twice with what a look found.
    if (!isNewer(change, record)) continue
    // While it runs the message says everything; other states come with fields that only Postgres knows.
    record =
      change.status === 'PROCESSING'
        ? { ...record, status: change.status, progress: change.progress, updatedAt: new Date(change.updatedAt) }
        : await find()
    if (record) yield record
    if (!record || isTerminal(record.status)) return
  }
}

/** The id of a generation's state in a stream of its events: a number that grows with every change. */
export function eventId({ updatedAt, progress }: GenerationRecord): string {
  return `${updatedAt.getTime()}.${String(Math.round((progress ?? 0) * 1000)).padStart(4, '0')}`
}

function publishChange(changes: EventEmitter, message: unknown): void {
  const result = checkChange(message)
  if (result.ok) changes.emit(result.value.id, result.value)
}
