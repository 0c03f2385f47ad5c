import { configure } from '../../api/shared/process/config.ts'
import { readWorkerConfig } from '../job/config.ts'
import { forkInference } from './fork.ts'

export const config = configure(readWorkerConfig)

/** Program and environment of every inference process. */
export const inferenceProgram = {
  program: new URL('process.ts', import.meta.url),
  env: {
    ENGINES: config.ENGINES.join(','),
    MODEL_DIR: config.MODEL_DIR,
    MARK_DIR: config.MARK_DIR,
    AGE_CHECK: config.AGE_CHECK,
    ENGINE_DIR: config.ENGINE_DIR,
    DOWNLOADED_ENGINES: config.DOWNLOADED_ENGINES,
    EXECUTION_PROVIDER: config.EXECUTION_PROVIDER,
    ACKNOWLEDGE_NON_COMMERCIAL: config.ACKNOWLEDGE_NON_COMMERCIAL,
    SELF_TEST_TOLERANCE: config.SELF_TEST_TOLERANCE,
    SELF_TEST_GOLDEN: config.SELF_TEST_GOLDEN,
  },
}

/** The first process of each slot. */
export const firstProcesses = Array.from({ length: config.CONCURRENCY }, () => forkInference(inferenceProgram))
