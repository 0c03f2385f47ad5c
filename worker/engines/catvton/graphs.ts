import type { Provider, Session } from '../../inference/session.ts'
import { type OpenedGraphs, openEngineGraphs } from '../diffusion/graphs.ts'
import type { CatVtonManifest } from './manifest.ts'

const OWN = ['encoder', 'decoder'] as const
const PARSER = 'parser'

export type Graphs = OpenedGraphs<(typeof OWN)[number], 'denoiser'> & {
  /** Segmentation parser of clothed people, if the folder has one. */
  readonly parsing: Session | null
}

/** Opens the engine's graphs. @throws Error as `openEngineGraphs` */
export async function openGraphs(
  folder: string,
  manifest: CatVtonManifest,
  { provider }: { provider: Provider },
): Promise<Graphs> {
  const hasParser = manifest.models.some(({ name }) => name === PARSER)
  const plain: ((typeof OWN)[number] | typeof PARSER)[] = hasParser ? [...OWN, PARSER] : [...OWN]
  const graphs = await openEngineGraphs(folder, manifest, { provider, plain, counted: 'denoiser' })
  return { ...graphs, parsing: hasParser ? graphs[PARSER] : null }
}
