import type { WorkerEngine } from '../../api/shared/engine-catalogue.ts'
import { DrapeError } from '../../api/shared/errors.ts'
import type { Models } from '../inference/models.ts'
import type { Provider } from '../inference/session.ts'
import { type Conformance, USUAL } from './conformance.ts'
import type { Engine, EngineManifest } from './engine.ts'
import { createMockEngine, MOCK_MANIFEST } from './mock.ts'
import { createWarpEngine, WARP_MANIFEST } from './warp/warp-engine.ts'

/** What engines are made from. */
export interface EngineResources {
  readonly models: Models
  /** What the models of an engine have to run on. */
  readonly provider: Provider
  /** What the self-test has to show. */
  readonly conformance: Conformance
}

export interface EngineFactory {
  readonly manifest: EngineManifest & {
    /** What a graphics device must have free, where it is known. */
    readonly minMemoryMiB?: number
    /** Models of others that the engine works with, each under a licence of its own. */
    readonly auxiliary?: readonly Pick<EngineManifest, 'name' | 'license'>[]
  }
  /** Those that are the engine's own, checked when it is made. */
  readonly files?: readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[]
  readonly create: (resources: EngineResources) => Engine | Promise<Engine>
}

/** Every engine that is part of this program, by name. */
export const ENGINES: ReadonlyMap<string, EngineFactory> = new Map(
  Object.entries({
    warp: { manifest: WARP_MANIFEST, create: createWarpEngine },
    mock: { manifest: MOCK_MANIFEST, create: createMockEngine },
  } satisfies Record<WorkerEngine, EngineFactory>),
)

interface EngineOptions {
  readonly models: Models
  readonly provider?: Provider
  readonly acknowledged?: readonly string[]
  readonly conformanceOf?: (engine: string) => Conformance
  readonly known?: ReadonlyMap<string, EngineFactory>
}

/**
 * The engines of these names, ready to run. An engine whose licence, or that of a model it works with, forbids commercial use is made
 * only when its name is among `acknowledged`, for a model its own name, too. Throws `DrapeError` INTERNAL_ERROR that says which name is unknown or not acknowledged, and what making one
 * throws.
 */
export async function createEngines(
  names: readonly string[],
  { models, provider = 'cpu', acknowledged = [], conformanceOf = () => USUAL, known = ENGINES }: EngineOptions,
): Promise<ReadonlyMap<string, Engine>> {
  const factories = names.map((name) => [name, demandFactory(name, { acknowledged, known })] as const)
  const engines = new Map<string, Engine>()
  // One after the other: each may take much of the memory of a device.
  for (const [name, factory] of factories)
    engines.set(name, await factory.create({ models, provider, conformance: conformanceOf(name) }))
  return engines
}

function demandFactory(
  name: string,
  { acknowledged, known }: Required<Pick<EngineOptions, 'acknowledged' | 'known'>>,
): EngineFactory {
  const factory = known.get(name)
  if (!factory)
    throw new DrapeError('INTERNAL_ERROR', `Unknown engine "${name}". Known engines: ${[...known.keys()].join(', ')}`)
  const { license, auxiliary = [] } = factory.manifest
  if (!license.commercial && !acknowledged.includes(name)) throw notAcknowledged(`The engine "${name}"`, license.spdx)
  for (const model of auxiliary) {
    if (model.license.commercial || acknowledged.includes(name) || acknowledged.includes(model.name)) continue
    throw notAcknowledged(`The model "${model.name}" of the engine "${name}"`, model.license.spdx)
  }
  return factory
}

function notAcknowledged(what: string, spdx: string): DrapeError {
  return new DrapeError(
    'INTERNAL_ERROR',
    `${what} is under ${spdx}, which forbids commercial use; it is started only when that is acknowledged`,
  )
}
