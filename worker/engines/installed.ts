import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compileCheck } from '../../api/shared/contract/schema.ts'
import type { ExportedEngine } from '../../api/shared/engines/engine-catalogue.ts'
import { openFashnVton } from './fashn-vton/fashn-vton-engine.ts'
import { FashnVtonManifestSchema } from './fashn-vton/manifest.ts'
import type { EngineFactory } from './registry.ts'

/** Creates an engine factory from a parsed `engine.json`. @throws Error that describes the problem */
type ReadManifest = (value: unknown, folder: string) => EngineFactory

const checkFashnVton = compileCheck(FashnVtonManifestSchema)

/** Readers by the `interface` field of `engine.json`. */
const READERS: ReadonlyMap<unknown, ReadManifest> = new Map(
  Object.entries({
    'fashn-vton/1': readFashnVton,
  } satisfies Record<`${ExportedEngine}/1`, ReadManifest>),
)

/**
 * The engines among `names` that have a folder of their name in `directory` with a supported `engine.json`. Opens no graph.
 * @throws Error that names the file and the problem
 */
export async function findInstalled(names: readonly string[], directory: string): Promise<Map<string, EngineFactory>> {
  const found = new Map<string, EngineFactory>()
  if (directory === '') return found
  for (const name of names) {
    const factory = await readInstalled(name, join(directory, name))
    if (factory) found.set(name, factory)
  }
  return found
}

function readFashnVton(value: unknown, folder: string): EngineFactory {
  const checked = checkFashnVton(value)
  if (!checked.ok) throw new Error(checked.problems.map(({ path, message }) => `${path} ${message}`).join('; '))
  const manifest = checked.value
  return { manifest, files: manifest.files, create: (resources) => openFashnVton(folder, manifest, resources) }
}

async function readInstalled(name: string, folder: string): Promise<EngineFactory | null> {
  const path = join(folder, 'engine.json')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Error(`${path}: cannot be read: ${error.message}`, { cause: error })
  })
  if (text === null) return null
  const value = parseJson(path, text)
  const kind = kindOf(value)
  const read = READERS.get(kind)
  if (!read) throw new Error(`${path}: has the interface ${kind}, which this version does not support`)
  const factory = readAs(read, value, { path, folder })
  if (factory.manifest.name !== name) throw new Error(`${path}: is the manifest of the engine ${factory.manifest.name}`)
  return factory
}

function readAs(read: ReadManifest, value: unknown, { path, folder }: { path: string; folder: string }): EngineFactory {
  try {
    return read(value, folder)
  } catch (cause) {
    throw new Error(`${path}: ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
}

function kindOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'interface' in value ? value.interface : undefined
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`${path}: is not JSON`, { cause })
  }
}
