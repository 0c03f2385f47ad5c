import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { compileCheck } from '../../api/shared/schema.ts'
import { openFashnVton } from './fashn-vton/fashn-vton-engine.ts'
import { FashnVtonManifestSchema } from './fashn-vton/manifest.ts'
import type { EngineFactory } from './registry.ts'

const checkFashnVton = compileCheck(FashnVtonManifestSchema)

/**
 * The engines among `names` that have a folder of their name in `directory`, each with an `engine.json` that is of a kind this program
 * knows. Nothing is opened yet.
 * @throws Error that names the file and what is wrong with it
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

async function readInstalled(name: string, folder: string): Promise<EngineFactory | null> {
  const path = join(folder, 'engine.json')
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new Error(`${path}: cannot be read: ${error.message}`, { cause: error })
  })
  if (text === null) return null
  const value = parseJson(path, text)
  const kind = kindOf(value)
  if (kind !== 'fashn-vton/1') throw new Error(`${path}: is of the kind ${kind}, which this program does not run`)
  const checked = checkFashnVton(value)
  if (!checked.ok) {
    const problems = checked.problems.map(({ path: field, message }) => `${field} ${message}`)
    throw new Error(`${path}: ${problems.join('; ')}`)
  }
  const manifest = checked.value
  if (manifest.name !== name) throw new Error(`${path}: is of the engine ${manifest.name}`)
  return { manifest, files: manifest.files, create: (resources) => openFashnVton(folder, manifest, resources) }
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
