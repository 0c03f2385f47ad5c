import type { Provider, Session } from '../../inference/session.ts'
import { type OpenedGraphs, openEngineGraphs } from '../diffusion/graphs.ts'
import type { FashnVtonManifest } from './manifest.ts'

const OWN = ['person', 'garment', 'modulation'] as const
const POSE = ['pose-detector', 'pose-keypoints'] as const

export type Graphs = OpenedGraphs<(typeof OWN)[number], 'denoise'> & {
  /** Of DWPose, where the folder has them. */
  readonly pose: { readonly detector: Session; readonly keypoints: Session } | null
}

/** Opens the engine's graphs. @throws Error as `openEngineGraphs` */
export async function openGraphs(
  folder: string,
  manifest: FashnVtonManifest,
  { provider }: { provider: Provider },
): Promise<Graphs> {
  const options = { provider, counted: 'denoise' } as const
  const hasPose = manifest.models.some(({ name }) => POSE.some((graph) => graph === name))
  if (!hasPose) return { ...(await openEngineGraphs(folder, manifest, { ...options, plain: OWN })), pose: null }
  const graphs = await openEngineGraphs(folder, manifest, { ...options, plain: [...OWN, ...POSE] })
  return { ...graphs, pose: { detector: graphs['pose-detector'], keypoints: graphs['pose-keypoints'] } }
}
