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
import type { EngineFields } from './engine-fields.ts'

/** Opened graphs by name. */
export type OpenedGraphs<P extends string, C extends string> = Readonly<Record<P, Session>> &
  Readonly<Record<C, CountedSession>> & { release(): Promise<void> }

/**
 * Opens the graphs `plain` and `counted` of an engine in `folder` on the provider, after comparing every file with the manifest.
 * @throws Error that names the unsupported provider, the missing or different file, or the graph whose inputs and outputs differ from
 * the manifest; closes all graphs in that case.
 */
export async function openEngineGraphs<P extends string, C extends string>(
  folder: string,
  manifest: EngineFields,
  { provider, plain, counted }: { provider: Provider; plain: readonly P[]; counted: C },
): Promise<OpenedGraphs<P, C>> {
  const { name, providers } = manifest
  if (!providers.includes(provider))
    throw new Error(`The engine ${name} runs on ${providers.join(' and ')}, not on ${provider}`)
  await verifyFiles(manifest.files, folder).catch((cause: Error) => {
    throw new Error(`${folder}: ${cause.message}`, { cause })
  })
  const opened: [graph: string, session: Session][] = []
  const release = async () => {
    for (const [, session] of opened.splice(0).reverse()) await session.release()
  }
  try {
    for (const graph of plain)
      opened.push([graph, await openGraph(folder, manifest, { graph, provider, openAs: openSession })])
    opened.push([counted, await openGraph(folder, manifest, { graph: counted, provider, openAs: openCountedSession })])
    return { ...Object.fromEntries(opened), release } as OpenedGraphs<P, C>
  } catch (error) {
    await release()
    throw error
  }
}

type OpenAs<T extends Session> = (path: string, options: { provider: Provider }) => Promise<T>

async function openGraph<T extends Session>(
  folder: string,
  { models, files }: EngineFields,
  { graph, provider, openAs }: { graph: string; provider: Provider; openAs: OpenAs<T> },
): Promise<T> {
  const entry = models.find(({ name }) => name === graph)
  if (!entry || !files.some(({ path }) => path === entry.file))
    throw new Error(`${join(folder, 'engine.json')}: has no graph "${graph}" among its files`)
  // Open by path: the weights can be in separate files beside the graph.
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
