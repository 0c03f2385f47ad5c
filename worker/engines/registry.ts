import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { WorkerEngine } from '../../api/shared/engines/engine-catalogue.ts'
import type { Models } from '../inference/models.ts'
import type { Provider } from '../inference/session.ts'
import { type Conformance, DEFAULT_CONFORMANCE } from './conformance.ts'
import type { Engine, EngineManifest } from './engine.ts'
import { createMockEngine, MOCK_MANIFEST } from './mock.ts'
import { createWarpEngine, WARP_MANIFEST } from './warp/warp-engine.ts'

/** Resources of all engines. */
export interface EngineResources {
  readonly models: Models
  /** Required execution provider of the engine's models. */
  readonly provider: Provider
  /** Whether no other process of the worker uses the device, so that its whole memory may be used. */
  readonly isAlone: boolean
  /** Requirements of the self-test. */
  readonly conformance: Conformance
}

export interface EngineFactory {
  readonly manifest: EngineManifest & {
    /** Min free device memory in MiB, if known. */
    readonly minMemoryMiB?: number
    /** Third-party models of the engine, each with its own licence. */
    readonly auxiliary?: readonly Pick<EngineManifest, 'name' | 'license'>[]
  }
  /** The engine's own model files, verified on creation. */
  readonly files?: readonly { readonly path: string; readonly sha256: string; readonly bytes: number }[]
  readonly create: (resources: EngineResources) => Engine | Promise<Engine>
}

/** All built-in engines by name. */
export const ENGINES: ReadonlyMap<string, EngineFactory> = new Map(
  Object.entries({
    warp: { manifest: WARP_MANIFEST, create: createWarpEngine },
    mock: { manifest: MOCK_MANIFEST, create: createMockEngine },
  } satisfies Record<WorkerEngine, EngineFactory>),
)

interface EngineOptions {
  readonly models: Models
  readonly provider?: Provider
  readonly isAlone?: boolean
  readonly acknowledged?: readonly string[]
  readonly conformanceOf?: (engine: string) => Conformance
  readonly known?: ReadonlyMap<string, EngineFactory>
}

/**
 * Creates the engines with these names. An engine with a non-commercial licence, or with a model under one, requires its name in
 * `acknowledged` (for a model: the model's name).
 * Throws `DrapeError` INTERNAL_ERROR that names the unknown or unacknowledged name, and errors of the engine's creation.
 */
export async function createEngines(
  names: readonly string[],
  {
    models,
    provider = 'cpu',
    isAlone = false,
    acknowledged = [],
    conformanceOf = () => DEFAULT_CONFORMANCE,
    known = ENGINES,
  }: EngineOptions,
): Promise<ReadonlyMap<string, Engine>> {
  const factories = names.map((name) => [name, requireFactory(name, { acknowledged, known })] as const)
  const engines = new Map<string, Engine>()
  // Sequentially: each engine can need a large share of the device's memory.
  for (const [name, factory] of factories)
    engines.set(name, await factory.create({ models, provider, isAlone, conformance: conformanceOf(name) }))
  return engines
}

function requireFactory(
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
    `${what} is under ${spdx}, which forbids commercial use. To use it anyway, acknowledge the licence`,
  )
}
