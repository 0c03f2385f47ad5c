import { reading } from '../../http/guards.ts'
import { route } from '../../http/route.ts'
import type { AppContext } from '../../http/state.ts'
import { MODES } from '../../shared/generations/generation.ts'
import type { EngineChoice } from './choice.ts'
import type { EngineDirectory, KnownEngine } from './directory.ts'
import { type EngineDescription, EngineList } from './engines.schema.ts'
import type { WaitEstimate } from './wait-estimate.ts'

export interface EngineParts {
  readonly engines: Pick<EngineDirectory, 'list'>
  readonly estimateWait: WaitEstimate['ofCall']
  readonly defaultEngineOf: EngineChoice['defaultOf']
}

export const engineRoutes = [
  route({
    method: 'get',
    path: '/tryon/v1/engines',
    id: 'listEngines',
    compressed: true,
    scopes: ['read'],
    tag: 'Engines',
    summary: 'List the engines of the installation',
    description:
      'Engines are known from Engine resources of the cluster, from workers and from the configuration of the API. The response may be a few seconds old.',
    answers: { 200: { description: 'All known engines.', schema: EngineList } },
    errors: [],
    guards: reading,
    handler: getEngines,
  }),
]

async function getEngines(
  ctx: AppContext,
  { engines, estimateWait, defaultEngineOf }: EngineParts,
): Promise<EngineList> {
  const { account } = ctx.state
  const [known, defaultEngine] = await Promise.all([engines.list(), defaultEngineOf({ account })])
  const shown = known.map((engine) => present(engine, { estimateWait, accountId: account.id, defaultEngine }))
  return { engines: await Promise.all(shown) }
}

async function present(
  { name, card, kind, license, categories, garmentTypes, outfits, maxCount, credits, state }: KnownEngine,
  {
    estimateWait,
    accountId,
    defaultEngine,
  }: Pick<EngineParts, 'estimateWait'> & { accountId: string; defaultEngine: string },
): Promise<EngineDescription> {
  return {
    name,
    version: card?.version ?? null,
    kind,
    license,
    categories: [...categories],
    garmentTypes: [...garmentTypes],
    outfits,
    maxCount,
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
