import { type ChildProcess, fork } from 'node:child_process'
import type { Fork } from '../../api/shared/process/config.ts'
import { childEnvironment } from './child-environment.ts'

/** A newly started process. Its messages are queued until the first listener is added. */
export interface InferenceProcess {
  readonly child: ChildProcess
  /** `performance.now()` and `Date.now()` at the start, in ms. */
  readonly startedAt: { readonly clock: number; readonly date: number }
}

export interface InferenceProgram {
  /** The module that the process runs. */
  readonly program: URL
  readonly env: NodeJS.ProcessEnv
  /** What starts it; default: `fork` of Node. */
  readonly start?: Fork
}

/** Starts an inference process. */
export function forkInference({ program, env, start = fork }: InferenceProgram): InferenceProcess {
  const startedAt = { clock: performance.now(), date: Date.now() }
  const child = start(program, [], {
    serialization: 'advanced',
    // Pixels are outside the V8 heap, and objects on it are short-lived: a larger young generation would only waste over 100 MB.
    execArgv: [...process.execArgv, '--expose-gc', '--max-semi-space-size=8'],
    // Each glibc arena retains the memory that its threads freed; bitmaps are allocated by many threads, one at a time.
    env: { MALLOC_ARENA_MAX: '2', ...childEnvironment(process.env), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return { child, startedAt }
}
