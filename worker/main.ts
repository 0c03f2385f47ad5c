import { useProxies } from '../api/shared/network/proxies.ts'
import { configure, type Surroundings } from '../api/shared/process/config.ts'
import { forkFirst } from './inference/first-processes.ts'
import { readWorkerConfig } from './job/config.ts'

if (import.meta.main) await startWorker({ host: process })

/** Resolves when the worker takes jobs. It ends when its host does. */
export async function startWorker(surroundings: Surroundings): Promise<void> {
  configure(useProxies, surroundings.host)
  const config = configure(readWorkerConfig, surroundings.host)
  // They open their models while the rest of the code loads, which takes about as long.
  const first = forkFirst(config, surroundings)
  const { work } = await import('./job/take-jobs.ts')
  await work(config, first, surroundings)
}
