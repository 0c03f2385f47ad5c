import type { Provider } from '../../inference/session.ts'
import { type OpenedGraphs, openEngineGraphs } from '../diffusion/graphs.ts'
import type { CatVtonManifest } from './manifest.ts'

export type Graphs = OpenedGraphs<'encoder' | 'decoder', 'denoiser'>

/** Opens the engine's graphs. @throws Error as `openEngineGraphs` */
export function openGraphs(
  folder: string,
  manifest: CatVtonManifest,
  { provider }: { provider: Provider },
): Promise<Graphs> {
  return openEngineGraphs(folder, manifest, { provider, plain: ['encoder', 'decoder'], counted: 'denoiser' })
}
