import { join } from 'node:path'
import { shapeProblem } from '../../inference/models.ts'
import {
  type CountedSession,
  openCountedSession,
  openSession,
  type Provider,
  type Session,
} from '../../inference/session.ts'
import { verifyFiles } from '../files/verify.ts'
import type { FashnVtonManifest } from './manifest.ts'

const POSE = ['pose-detector', 'pose-keypoints'] as const

export interface Graphs {
  readonly person: Session
  readonly garment: Session
  readonly modulation: Session
  readonly denoise: CountedSession
  /** DWPose graphs, if the folder has them. */
  readonly pose: { readonly detector: Session; readonly keypoints: Session } | null
  release(): Promise<void>
}

/**
 * Opens the engine's graphs in `folder` on the provider, after comparing every file with the manifest.
 * @throws Error that names the unsupported provider, the missing or different file, or the graph whose inputs and outputs differ from
 * the manifest; closes all graphs in that case.
 */
export async function openGraphs(folder: string, manifest: FashnVtonManifest, provider: Provider): Promise<Graphs> {
  const { name, providers, models } = manifest
  if (!providers.includes(provider))
    throw new Error(`The engine ${name} runs on ${providers.join(' and ')}, not on ${provider}`)
  await verifyFiles(manifest.files, folder).catch((cause: Error) => {
    throw new Error(`${folder}: ${cause.message}`, { cause })
  })
  const opened: Session[] = []
  const release = async () => {
    for (const session of opened.splice(0).reverse()) await session.release()
  }
  const open = async <T extends Session>(graph: string, openAs: OpenAs<T>): Promise<T> => {
    const session = await openGraph(folder, manifest, { graph, provider, openAs })
    opened.push(session)
    return session
  }
  const has = (graph: string) => models.some((model) => model.name === graph)
  try {
    return {
      person: await open('person', openSession),
      garment: await open('garment', openSession),
      modulation: await open('modulation', openSession),
      pose: POSE.some(has)
        ? { detector: await open(POSE[0], openThirdParty), keypoints: await open(POSE[1], openThirdParty) }
        : null,
      denoise: await open('denoise', openCountedSession),
      release,
    }
  } catch (error) {
    await release()
    throw error
  }
}

type OpenAs<T extends Session> = (path: string, options: { provider: Provider }) => Promise<T>

/** Its operators are unknown. */
const openThirdParty: OpenAs<Session> = (path, options) => openSession(path, { ...options, mayUseCpu: true })

async function openGraph<T extends Session>(
  folder: string,
  { models, files }: FashnVtonManifest,
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
