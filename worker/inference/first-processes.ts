import type { Surroundings } from '../../api/shared/process/config.ts'
import type { WorkerConfig } from '../job/config.ts'
import { childEnvironment } from './child-environment.ts'
import { forkInference } from './fork.ts'

export type FirstProcesses = ReturnType<typeof forkFirst>

/** Starts the first process of each slot. `inferenceProgram`: program and environment of every inference process. */
export function forkFirst(config: WorkerConfig, { host, startInference }: Surroundings) {
  const inferenceProgram = {
    start: startInference,
    program: new URL('process.ts', import.meta.url),
    env: {
      ...childEnvironment(host.env),
      ENGINES: config.ENGINES.join(','),
      MODEL_DIR: config.MODEL_DIR,
      AGE_CHECK: config.AGE_CHECK,
      ENGINE_DIR: config.ENGINE_DIR,
      DOWNLOADED_ENGINES: config.DOWNLOADED_ENGINES,
      EXECUTION_PROVIDER: config.EXECUTION_PROVIDER,
      CONCURRENCY: String(config.CONCURRENCY),
      ACKNOWLEDGE_NON_COMMERCIAL: config.ACKNOWLEDGE_NON_COMMERCIAL,
      SELF_TEST_TOLERANCE: config.SELF_TEST_TOLERANCE,
      SELF_TEST_GOLDEN: config.SELF_TEST_GOLDEN,
    },
  }
  return {
    inferenceProgram,
    firstProcesses: Array.from({ length: config.CONCURRENCY }, () => forkInference(inferenceProgram)),
  }
}
