import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** TypeScript as JavaScript, line by line where it was. Node itself does it, as it does for this file. */
export async function stripTypes(sources: readonly string[]): Promise<readonly string[]> {
  // In a thread of its own, because the warning that Node gives with it can be turned off for a whole thread only.
  const thread = new Worker(new URL('strip-types-thread.ts', import.meta.url), {
    workerData: sources,
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const [scripts] = (await once(thread, 'message')) as [string[]]
  return scripts
}
