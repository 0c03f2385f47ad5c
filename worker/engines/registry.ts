import { DrapeError } from '../../api/shared/errors.ts'
import type { Models } from '../inference/models.ts'
import type { Engine, EngineManifest } from './engine.ts'
import { createMockEngine, MOCK_MANIFEST } from './mock.ts'
import { createWarpEngine, WARP_MANIFEST } from './warp/warp-engine.ts'

/** What engines are made from. */
export interface EngineResources {
  readonly models: Models
}

export interface EngineFactory {
  readonly manifest: EngineManifest
  readonly create: (resources: EngineResources) => Engine
}

/** Every engine this program knows, by name. */
export const ENGINES: ReadonlyMap<string, EngineFactory> = new Map([
  [WARP_MANIFEST.name, { manifest: WARP_MANIFEST, create: createWarpEngine }],
  [MOCK_MANIFEST.name, { manifest: MOCK_MANIFEST, create: createMockEngine }],
])

/**
 * The engines of these names, ready to run. An engine whose licence forbids commercial use is made only when its name is
 * among `acknowledged`. Throws `DrapeError` INTERNAL_ERROR that says which name is unknown or not acknowledged.
 */
export function createEngines(
  names: readonly string[],
  {
    models,
    acknowledged = [],
    known = ENGINES,
  }: { models: Models; acknowledged?: readonly string[]; known?: ReadonlyMap<string, EngineFactory> },
): ReadonlyMap<string, Engine> {
  return new Map(names.map((name) => [name, createEngine(name, { models, acknowledged, known })]))
}

function createEngine(
  name: string,
  {
    models,
    acknowledged,
    known,
  }: { models: Models; acknowledged: readonly string[]; known: ReadonlyMap<string, EngineFactory> },
): Engine {
  const factory = known.get(name)
  if (!factory)
    throw new DrapeError('INTERNAL_ERROR', `There is no engine "${name}"; known are ${[...known.keys()].join(', ')}`)
  const { license } = factory.manifest
  if (!license.commercial && !acknowledged.includes(name))
    throw new DrapeError(
      'INTERNAL_ERROR',
      `The engine "${name}" is under ${license.spdx}, which forbids commercial use; it is started only when that is acknowledged`,
    )
  return factory.create({ models })
}
