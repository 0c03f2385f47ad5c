import Router from '@koa/router'
import type { Middleware } from 'koa'
import type { EngineChoice } from '../../engines/choice.ts'
import type { EngineDirectory, KnownEngine } from '../../engines/directory.ts'
import type { WaitEstimate } from '../../engines/wait-estimate.ts'
import { CATEGORIES, MODES } from '../../shared/generation.ts'
import type { AppContext, AppState } from '../../state.ts'
import type { EngineDescription } from './engines.schema.ts'

export interface EngineOptions {
  readonly guards: readonly Middleware<AppState>[]
  readonly engines: Pick<EngineDirectory, 'list'>
  readonly estimateWait: WaitEstimate['ofCall']
  readonly defaultEngineOf: EngineChoice['defaultOf']
}

/** Kinds of the built-in engines before a worker has reported its own. */
const KINDS: Readonly<Record<string, EngineDescription['kind']>> = {
  warp: 'preview',
  'fashn-vton': 'photo',
  catvton: 'photo',
  mock: 'test',
}

/** GET /engines */
export function engineRoutes(options: EngineOptions): Router<AppState> {
  const router = new Router<AppState>({ prefix: '/tryon/v1', sensitive: true })
  router.get('/engines', ...(options.guards as never[]), (ctx: AppContext) => getEngines(ctx, options))
  return router
}

async function getEngines(ctx: AppContext, { engines, estimateWait, defaultEngineOf }: EngineOptions): Promise<void> {
  const { account } = ctx.state
  const [known, defaultEngine] = await Promise.all([engines.list(), defaultEngineOf({ account })])
  const shown = known.map((engine) => present(engine, { estimateWait, accountId: account.id, defaultEngine }))
  ctx.body = { engines: await Promise.all(shown) }
}

async function present(
  { name, card, published, state, credits, garmentTypes }: KnownEngine,
  {
    estimateWait,
    accountId,
    defaultEngine,
  }: Pick<EngineOptions, 'estimateWait'> & { accountId: string; defaultEngine: string },
): Promise<EngineDescription> {
  return {
    name,
    version: card?.version ?? null,
    kind: card?.kind ?? KINDS[name] ?? null,
    license: card?.license ?? published?.license ?? null,
    categories: card?.categories ?? [...CATEGORIES],
    garmentTypes: [...garmentTypes],
    modes: [...MODES],
    credits,
    isDefault: name === defaultEngine,
    state,
    expectedWaitSeconds:
      state === 'unavailable'
        ? null
        : (await estimateWait({ accountId, engine: name, isBatch: false })).estimatedStartSeconds,
  }
}
