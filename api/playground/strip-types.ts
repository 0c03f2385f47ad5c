import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** Converts TypeScript to JavaScript with Node's own type stripping, which preserves lines. */
export async function stripTypes(sources: readonly string[]): Promise<readonly string[]> {
  // In a separate thread, because its warning can be disabled only for a whole thread.
  const thread = new Worker(new URL('strip-types-thread.ts', import.meta.url), {
    workerData: sources,
    env: {},
    execArgv: ['--disable-warning=ExperimentalWarning'],
  })
  const [scripts] = (await once(thread, 'message')) as [string[]]
  return scripts
}
