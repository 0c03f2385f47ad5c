import type { Provider } from '../../inference/session.ts'
import { type OpenedGraphs, openEngineGraphs } from '../diffusion/graphs.ts'
import type { FashnVtonManifest } from './manifest.ts'

export type Graphs = OpenedGraphs<'person' | 'garment' | 'modulation', 'denoise'>

/** Opens the engine's graphs. @throws Error as `openEngineGraphs` */
export function openGraphs(
  folder: string,
  manifest: FashnVtonManifest,
  { provider }: { provider: Provider },
): Promise<Graphs> {
  return openEngineGraphs(folder, manifest, {
    ...{ provider, plain: ['person', 'garment', 'modulation'], counted: 'denoise' },
  })
}
