import type { Provider, Session } from '../../inference/session.ts'
import type { FashnVtonManifest } from './manifest.ts'
import { type OpenedGraphs, openEngineGraphs } from './open-graphs.ts'

const OWN = ['person', 'garment', 'modulation'] as const
const POSE = ['pose-detector', 'pose-keypoints'] as const
const PARSER = ['parser'] as const

export type Graphs = OpenedGraphs<(typeof OWN)[number], 'denoise'> & {
  /** DWPose graphs, if the folder has them. */
  readonly pose: { readonly detector: Session; readonly keypoints: Session } | null
  /** Segmentation parser of clothed people, if the folder has one. */
  readonly parsing: Session | null
}

/** Opens the engine's graphs. @throws Error as `openEngineGraphs` */
export async function openGraphs(
  folder: string,
  manifest: FashnVtonManifest,
  { provider }: { provider: Provider },
): Promise<Graphs> {
  const has = (names: readonly string[]) => manifest.models.some(({ name }) => names.includes(name))
  const plain: (typeof OWN | typeof POSE | typeof PARSER)[number][] = [...OWN]
  if (has(POSE)) plain.push(...POSE)
  if (has(PARSER)) plain.push(...PARSER)
  const graphs = await openEngineGraphs(folder, manifest, { provider, plain, counted: 'denoise' })
  const pose = has(POSE) ? { detector: graphs['pose-detector'], keypoints: graphs['pose-keypoints'] } : null
  return { ...graphs, pose, parsing: has(PARSER) ? graphs.parser : null }
}
