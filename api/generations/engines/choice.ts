import type { AccountSettings } from '../../accounts/account-settings.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { TEST_ENGINE } from '../../shared/contract/test-mode.ts'
import { type ClassifiedImage, categoryOf, usableImages } from '../../shared/generations/generation.ts'
import type { EngineDirectory, KnownEngine } from './directory.ts'
import type { Estimate, WaitEstimate } from './wait-estimate.ts'

export interface EngineRequest {
  readonly account: { readonly id: string; readonly settings: AccountSettings; readonly testOf: string | null }
  readonly shop?: { readonly defaultEngine: string | null }
  /** Engine that the call names. */
  readonly requested?: string
  /** False when the call forbids fallback engines. */
  readonly mayFallBack: boolean
  readonly isBatch: boolean
  /** Number of products of an outfit, which the engine must draw; absent for a single product. */
  readonly layers?: number
  /** Results that the engine must draw. Absent: 1. */
  readonly count?: number
  /** Images of each product, which a fallback engine must be able to use; null for an unknown product. */
  readonly findImages: () => Promise<readonly (readonly ClassifiedImage[] | null)[]>
}

/** Input for the choice of the default engine. */
interface DefaultEngineRequest extends Pick<EngineRequest, 'shop'> {
  readonly account: { readonly settings: AccountSettings }
}

export interface ChosenEngine {
  readonly engine: KnownEngine
  /** Engine that the call named, when a fallback engine replaces it. */
  readonly requestedEngine: string | null
  /** Null when the wait is unknown. */
  readonly estimating: Promise<Estimate | null>
}

export interface EngineChoice {
  /**
   * Chooses the engine of a try-on. Throws `VALIDATION_FAILED` with the list of known engines when the engine is
   * unknown or cannot draw the outfit or as many results, and `SERVICE_UNAVAILABLE` when no worker runs the engine, none is expected and no fallback engine is
   * available. `path`: the field of the call that names the engine.
   */
  choose(request: EngineRequest, path: string): Promise<ChosenEngine>
  /** Name of the engine of a try-on that names none. Ignores a stored name that the installation does not know. */
  defaultOf(request: DefaultEngineRequest): Promise<string>
}

interface Parts {
  readonly engines: EngineDirectory
  readonly estimateWait: WaitEstimate['ofCall']
  readonly installation: string
}

export function createEngineChoice(parts: Parts): EngineChoice {
  const { engines, installation } = parts
  const defaultOf: EngineChoice['defaultOf'] = async ({ shop, account }) => {
    for (const name of [shop?.defaultEngine, account.settings.defaultEngine])
      if (name && (await engines.find(name)) !== null) return name
    return installation
  }
  return {
    choose: async (request, path) => {
      const engine = await engines.find(request.requested ?? (await defaultOf(request)))
      if (engine === null) throw unknownEngine(await engines.list(), path)
      if (request.layers !== undefined && !engine.outfits) throw drawsNoOutfits(engine, await engines.list(), path)
      if ((request.count ?? 1) > engine.maxCount) throw drawsFewer(engine, await engines.list(), path)
      if (request.account.testOf !== null) {
        const free: KnownEngine = { ...engine, name: TEST_ENGINE, state: 'ready', credits: 0, published: null }
        return { engine: free, requestedEngine: null, estimating: Promise.resolve(null) }
      }
      const own = { engine, requestedEngine: null, estimating: estimate(engine, request, parts) }
      const fallback = await findFallback(own, request, parts)
      if (fallback) return fallback
      if (engine.state === 'unavailable') throw unavailable(engine.name)
      return own
    },
    defaultOf,
  }
}

/** A failed estimate does not fail the call. */
function estimate({ name, state }: KnownEngine, { account, isBatch, layers }: EngineRequest, { estimateWait }: Parts) {
  if (state === 'unavailable') return Promise.resolve(null)
  return estimateWait({ accountId: account.id, engine: name, isBatch, layers }).catch(() => null)
}

/**
 * The account's first fallback engine that starts in time, else the one that starts first; null when the requested
 * engine starts in time or no later than those.
 */
async function findFallback(own: ChosenEngine, request: EngineRequest, parts: Parts): Promise<ChosenEngine | null> {
  const { fallbackEngines = [], fallbackAfterSeconds = Number.POSITIVE_INFINITY } = request.account.settings
  if (!request.mayFallBack || fallbackEngines.length === 0) return null
  // Batch work is not urgent: it leaves its engine only when no worker runs that engine.
  const limit = request.isBatch ? Number.POSITIVE_INFINITY : fallbackAfterSeconds
  const isServed = own.engine.state !== 'unavailable'
  const ownStart = isServed ? startOf(await own.estimating, 0) : Number.POSITIVE_INFINITY
  if (isServed && ownStart <= limit) return null
  const candidates = await findCandidates(own.engine, request, parts)
  const starts = await Promise.all(
    candidates.map(async (engine) => {
      const estimating = estimate(engine, request, parts)
      const start = startOf(await estimating, Number.MAX_VALUE)
      return { start, chosen: { engine, requestedEngine: own.engine.name, estimating } }
    }),
  )
  const [soonest] = starts.toSorted((a, b) => a.start - b.start)
  const best = starts.find(({ start }) => start <= limit) ?? soonest
  return best && best.start < ownStart ? best.chosen : null
}

function startOf(found: Estimate | null, unknown: number): number {
  return found?.estimatedStartSeconds ?? unknown
}

/** Available fallback engines that can use the product, in the order of the account. */
async function findCandidates(own: KnownEngine, request: EngineRequest, { engines }: Parts): Promise<KnownEngine[]> {
  const names = (request.account.settings.fallbackEngines ?? []).filter((name) => name !== own.name)
  const [images, ...known] = await Promise.all([request.findImages(), ...names.map((name) => engines.find(name))])
  return known.flatMap((engine) =>
    engine !== null &&
    engine.state !== 'unavailable' &&
    (engine.outfits || request.layers === undefined) &&
    engine.maxCount >= (request.count ?? 1) &&
    images.every((each) => accepts(engine, each))
      ? [engine]
      : [],
  )
}

function accepts({ garmentTypes, card }: KnownEngine, images: readonly ClassifiedImage[] | null): boolean {
  if (images === null) return true
  const [image] = usableImages(images, garmentTypes)
  if (!image) return false
  const category = categoryOf(image.classifications)
  return category === null || !card || card.categories.includes(category)
}

function unknownEngine(known: readonly KnownEngine[], path: string): DrapeError {
  const message = `must be one of ${known.map(({ name }) => name).join(', ')}`
  return new DrapeError('VALIDATION_FAILED', `${path} ${message}.`, { details: [{ path, message }] })
}

function drawsNoOutfits({ name }: KnownEngine, known: readonly KnownEngine[], path: string): DrapeError {
  const able = known.filter(({ outfits }) => outfits).map((engine) => engine.name)
  const message = `must be an engine that renders outfits: ${able.join(', ')}`
  return new DrapeError('VALIDATION_FAILED', `The engine ${name} renders no outfits. ${path} ${message}.`, {
    details: [{ path, message }],
  })
}

function drawsFewer({ name, maxCount }: KnownEngine, known: readonly KnownEngine[], path: string): DrapeError {
  const able = known.filter((engine) => engine.maxCount > maxCount).map((engine) => engine.name)
  const countPath = path.replace(/engine$/, 'count')
  const message = `must be at most ${maxCount} for the engine ${name}`
  return new DrapeError(
    'VALIDATION_FAILED',
    `${countPath} ${message}.${able.length > 0 ? ` Engines with more results: ${able.join(', ')}.` : ''}`,
    { details: [{ path: countPath, message }] },
  )
}

function unavailable(engine: string): DrapeError {
  return new DrapeError(
    'SERVICE_UNAVAILABLE',
    `No worker runs the engine ${engine}, and no pool can start one. Try again later or choose another engine of GET /tryon/v1/engines.`,
    { retryable: true, retryAfterSeconds: 30 },
  )
}
