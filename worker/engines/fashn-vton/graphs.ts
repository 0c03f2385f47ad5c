import { join } from 'node:path'
import { verifyFiles } from '../../engine-files/verify.ts'
import { shapeProblem } from '../../inference/models.ts'
import {
  type CountedSession,
  openCountedSession,
  openSession,
  type Provider,
  type Session,
} from '../../inference/session.ts'
import type { FashnVtonManifest } from './manifest.ts'

/** The opened graphs of the engine. */
export interface Graphs {
  readonly person: Session
  readonly garment: Session
  readonly modulation: Session
  readonly denoise: CountedSession
  release(): Promise<void>
}

/**
 * Opens the engine's graphs in `folder` on the provider, after every file has been compared with the manifest.
 * @throws Error that names the provider that the engine is not made for, the file that is missing or another one, or the graph whose
 * inputs and outputs are not those of the manifest; nothing stays open then.
 */
export async function openGraphs(
  folder: string,
  manifest: FashnVtonManifest,
  { provider }: { provider: Provider },
): Promise<Graphs> {
  const { name, providers } = manifest
  if (!providers.includes(provider))
    throw new Error(`The engine ${name} runs on ${providers.join(' and ')}, not on ${provider}`)
  await verifyFiles(manifest.files, folder).catch((cause: Error) => {
    throw new Error(`${folder}: ${cause.message}`, { cause })
  })
  const undo: (() => Promise<void>)[] = []
  const release = async () => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  const open = async <T extends Session>(graph: string, openAs: OpenAs<T>) => {
    const session = await openGraph(folder, manifest, { graph, provider, openAs })
    undo.push(() => session.release())
    return session
  }
  try {
    return {
      person: await open('person', openSession),
      garment: await open('garment', openSession),
      modulation: await open('modulation', openSession),
      denoise: await open('denoise', openCountedSession),
      release,
    }
  } catch (error) {
    await release()
    throw error
  }
}

type OpenAs<T extends Session> = (path: string, options: { provider: Provider }) => Promise<T>

async function openGraph<T extends Session>(
  folder: string,
  { models, files }: FashnVtonManifest,
  { graph, provider, openAs }: { graph: string; provider: Provider; openAs: OpenAs<T> },
): Promise<T> {
  const entry = models.find(({ name }) => name === graph)
  if (!entry || !files.some(({ path }) => path === entry.file))
    throw new Error(`${join(folder, 'engine.json')}: has no graph "${graph}" among its files`)
  // By its path, because its weights may lie beside it.
  const path = join(folder, entry.file)
  const session = await openAs(path, { provider }).catch((cause: Error) => {
    throw new Error(`${path}: cannot be opened on ${provider}: ${cause.message}`, { cause })
  })
  const problem =
    shapeProblem('input', session.inputs, entry.inputs) ?? shapeProblem('output', session.outputs, entry.outputs)
  if (problem === undefined) return session
  await session.release()
  throw new Error(`${path}: ${problem}`)
}
