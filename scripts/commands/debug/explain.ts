import { createWaiting } from '../../../api/generations/engines/waiting.store.ts'
import { createGenerationLives, type GenerationLife } from '../../../api/generations/generation-life.store.ts'
import { within } from '../../../api/http/limits/time-limit.ts'
import type { Database } from '../../../api/shared/database/database.ts'
import { isTerminal } from '../../../api/shared/generations/generation.ts'
import type { Answer } from '../command.ts'
import { CheckFailure, reasonOf } from '../failure.ts'
import { examineObjects } from './objects.ts'
import { readQueue } from './queue.ts'
import { createTimeline, withoutAddresses } from './timeline.ts'
import { describeWait } from './wait.ts'

/** Timeout of a source, which is then reported as not read. */
const READ_MS = 8000

/** A source that could not be read, and the reason. */
interface Unread {
  readonly source: string
  readonly reason: string
}

/**
 * The life of the first generation that exists among these IDs, from Postgres, Redis and the object storage.
 * @throws CheckFailure where none exists
 */
export async function explain(database: Database, ids: readonly string[]): Promise<Answer> {
  const lives = createGenerationLives(database)
  const life = await findFirst(ids, lives.find)
  if (life === null) throw new CheckFailure(`The generation ${ids[0]} does not exist`)
  const { id } = life
  const unread: Unread[] = []
  const read = <T>(source: string, work: () => Promise<T>): Promise<T | null> =>
    within(READ_MS, work()).catch((error: unknown) => {
      unread.push({ source, reason: withoutAddresses(error instanceof Error ? reasonOf(error) : String(error)) })
      return null
    })
  const found = await lives.findObjects(id)
  const [queue, objects] = await Promise.all([
    isTerminal(life.status) ? null : read('Redis', () => readQueue(life)),
    read('storage', () => examineObjects(found)),
  ])
  const deliveries = await lives.findDeliveries(id)
  const timeline = createTimeline({
    life,
    objects: found,
    deliveries,
    charges: await lives.findCharges(id),
    acts: await lives.findActs(id),
  })
  return {
    ...summarize(life),
    waitsFor: describeWait(life, { queue, place: await createWaiting(database).findPlace(id) }),
    ...timeline,
    stages: Object.entries(life.timings ?? {}).map(([stage, ms]) => ({ stage, ms })),
    storage: objects ?? found.map(({ role, isKnown }) => ({ object: role, state: isKnown ? 'not read' : 'deleted' })),
    webhooks: deliveries.map(({ endpointId, type, status, attempts, lastStatus, lastError }) => ({
      endpoint: endpointId,
      type,
      status,
      attempts,
      lastStatus,
      lastError: lastError === null ? null : withoutAddresses(lastError),
    })),
    unread,
  }
}

async function findFirst<T>(ids: readonly string[], find: (id: string) => Promise<T | null>): Promise<T | null> {
  for (const id of ids) {
    const found = await find(id)
    if (found !== null) return found
  }
  return null
}

/** Nothing about persons: customers, addresses, links and keys of the storage stay out. */
function summarize(life: GenerationLife): Answer {
  const { id, accountId, shopId, status, attempt, engine, requestedEngine, errorCode, errorMessage, warnings } = life
  const end = life.finishedAt ?? life.now
  return {
    generation: id,
    account: accountId,
    shop: shopId,
    status,
    attempt,
    engine,
    requestedEngine,
    errorCode,
    error: errorMessage === null ? null : withoutAddresses(errorMessage),
    warnings,
    seconds: (end.getTime() - life.createdAt.getTime()) / 1000,
  }
}
