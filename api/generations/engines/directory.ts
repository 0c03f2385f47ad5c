import { within } from '../../http/limits/time-limit.ts'
import type { EngineCard, EngineCards } from '../../shared/engines/engine-cards.ts'
import { BUILT_IN_ENGINES, type EngineFacts, engineFacts } from '../../shared/engines/engine-catalogue.ts'
import { isEngineName } from '../../shared/engines/engine-names.ts'
import { GARMENT_TYPES } from '../../shared/generations/generation.ts'
import type { Redis } from '../../shared/queue/redis.ts'
import type { PublishedEngine, PublishedEngines } from './published-engines.store.ts'

/**
 * `ready`: live workers run the engine. `scaling_from_zero`: no worker is live, and accepted jobs wait until a worker starts.
 * `unavailable`: no worker is live and none is expected.
 */
export type EngineState = 'ready' | 'scaling_from_zero' | 'unavailable'

/** Described by its Engine resource, else by its workers, else by the catalogue. */
export interface KnownEngine extends Omit<EngineFacts, 'license' | 'secondsPerJob'> {
  readonly name: string
  readonly state: EngineState
  /** Slots of live workers. */
  readonly slots: number
  /** SPDX expression of engine and model files; null while unknown. */
  readonly license: string | null
  /** The description that a worker reported; null before the first report. */
  readonly card: EngineCard | null
  readonly published: PublishedEngine | null
}

export interface EngineDirectory {
  /** All known engines, from a snapshot that is at most 5 s old and refreshed after 1 s. */
  list(): Promise<readonly KnownEngine[]>
  /**
   * The engine; null when it is unknown. Refreshes the snapshot if the engine is missing or unavailable in it: a worker
   * may just have started. While Redis is unavailable, an engine that only workers can report counts as unavailable.
   */
  find(name: string): Promise<KnownEngine | null>
}

const FRESH_MS = 1000
/** Maximum age of a snapshot in use. Until then, a slow Redis or Postgres delays no call. */
const STALE_MS = 5000
/** Maximum age of the snapshot before a refusal. */
const RETRY_MS = 200
const REDIS_MS = 500
/** Workers that were live this recently count as restarting; a job with the default deadline waits as long. */
const RESTART_MS = 300_000

interface Sources {
  readonly redis: Pick<Redis, 'isReady' | 'findWorkers'>
  readonly cards: Pick<EngineCards, 'find'>
  readonly published: PublishedEngines
  /** Engines of workers outside of WorkerPools. */
  readonly configured: readonly string[]
  readonly now: () => number
}

interface Snapshot {
  readonly engines: readonly KnownEngine[]
  /** False without Redis, the only source for engines that only workers report. */
  readonly isComplete: boolean
  readonly cards: ReadonlyMap<string, EngineCard>
}

/**
 * Combines the engines that the controller publishes, the engines that workers announce, and the configured engines.
 */
export function createEngineDirectory(sources: Sources): EngineDirectory {
  let last: { readonly snapshot: Snapshot; readonly at: number; readonly isReady: boolean } | null = null
  let looking: Promise<Snapshot> | null = null
  const refresh = () => {
    const isReady = sources.redis.isReady()
    looking ??= findKnown(sources, last?.snapshot.cards ?? new Map())
      .then((snapshot) => {
        last = { snapshot, at: sources.now(), isReady }
        return snapshot
      })
      .finally(() => {
        looking = null
      })
    looking.catch(() => {})
    return looking
  }
  const readSnapshot = async (freshMs: number, staleMs: number) => {
    // A snapshot from before the connection to Redis shows no worker.
    const isCurrent = last !== null && (last.isReady || !sources.redis.isReady())
    const age = last === null || !isCurrent ? Number.POSITIVE_INFINITY : sources.now() - last.at
    const refreshing = age < freshMs ? null : refresh()
    return last !== null && age < staleMs ? last.snapshot : (refreshing ?? refresh())
  }
  return {
    list: async () => (await readSnapshot(FRESH_MS, STALE_MS)).engines,
    find: async (name) => {
      if (!isEngineName(name)) return null
      const findIn = ({ engines }: Snapshot) => engines.find((engine) => engine.name === name) ?? null
      const usual = findIn(await readSnapshot(FRESH_MS, STALE_MS))
      if (usual !== null && usual.state !== 'unavailable') return usual
      const snapshot = await readSnapshot(RETRY_MS, RETRY_MS)
      return findIn(snapshot) ?? (snapshot.isComplete ? null : describe(name, { state: 'unavailable' }))
    },
  }
}

async function findKnown(sources: Sources, lastCards: Snapshot['cards']): Promise<Snapshot> {
  const [published, live] = await Promise.all([sources.published.find(), findLive(sources)])
  const resources = new Map(published.map((each) => [each.name, each]))
  // Without Redis no worker is visible, and accepted jobs wait in Postgres.
  if (live === null) {
    const names = namesOf([resources.keys(), sources.configured, lastCards.keys(), BUILT_IN_ENGINES])
    const engines = names.map((name) =>
      describe(name, { card: lastCards.get(name), published: resources.get(name), state: 'scaling_from_zero' }),
    )
    return { engines, isComplete: false, cards: lastCards }
  }
  const names = namesOf([resources.keys(), sources.configured, live.cards.keys(), live.slots.keys()])
  const engines = names.map((name) => {
    const resource = resources.get(name)
    const card = live.cards.get(name)
    const slots = live.slots.get(name) ?? 0
    const isRestarting = card !== undefined && sources.now() - card.seenAt < RESTART_MS
    // A controller publishes all pools, so the configured engines apply only without a controller.
    const isConfigured = published.length === 0 && sources.configured.includes(name)
    const isExpected = (resource?.maxSlots ?? 0) > 0 || isRestarting || isConfigured
    const state = slots > 0 ? 'ready' : isExpected ? 'scaling_from_zero' : 'unavailable'
    return describe(name, { state, slots, card, published: resource })
  })
  return { engines, isComplete: true, cards: live.cards }
}

/** Every name once, built-in engines first. */
function namesOf(sources: readonly Iterable<string>[]): string[] {
  const names = new Set(sources.flatMap((source) => [...source].filter(isEngineName)))
  const others = [...names].filter((name) => !BUILT_IN_ENGINES.includes(name))
  return [...BUILT_IN_ENGINES.filter((name) => names.has(name)), ...others.sort()]
}

interface Found {
  readonly state: EngineState
  readonly slots?: number
  readonly card?: EngineCard
  readonly published?: PublishedEngine
}

function describe(name: string, { state, slots = 0, card, published }: Found): KnownEngine {
  const facts = engineFacts(name)
  const stated = [published?.garmentTypes, card?.garmentTypes]
  const garmentTypes = stated.map((types) => GARMENT_TYPES.filter((type) => types?.includes(type)))
  return {
    name,
    state,
    slots,
    card: card ?? null,
    published: published ?? null,
    kind: card?.kind ?? facts.kind,
    license: card?.license ?? published?.license ?? facts.license?.spdx ?? null,
    categories: card?.categories ?? facts.categories,
    garmentTypes: garmentTypes.find(({ length }) => length > 0) ?? facts.garmentTypes,
    outfits: card ? card.outfits === true : facts.outfits,
    maxCount: card ? (card.maxCount ?? 1) : facts.maxCount,
    credits: facts.credits,
  }
}

async function findLive({ redis, cards }: Sources) {
  if (!redis.isReady()) return null
  try {
    const [workers, found] = await within(REDIS_MS, Promise.all([redis.findWorkers('try-on'), cards.find()]))
    const slots = new Map<string, number>()
    for (const worker of workers)
      for (const engine of worker.engines) slots.set(engine, (slots.get(engine) ?? 0) + worker.slots)
    return { slots, cards: found }
  } catch {
    return null
  }
}
