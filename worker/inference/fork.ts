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

/**
 * Pixels are outside the V8 heap, and objects on it are short-lived. By default V8 collects all garbage after each 64 MB of pixels, ten times
 * in a try-on, and drops the compiled code of closures every time; compiling it again takes a third of the processor time. Thus pixels
 * count towards the limit of the heap, which starts high enough for a few try-ons. A small young generation gives them back early.
 */
const HEAP_OPTIONS = [
  '--expose-gc',
  '--max-semi-space-size=4',
  '--external-memory-accounted-in-global-limit',
  '--initial-heap-size=96',
]

/** Starts an inference process. */
export function forkInference({ program, env, start = fork }: InferenceProgram): InferenceProcess {
  const startedAt = { clock: performance.now(), date: Date.now() }
  const child = start(program, [], {
    serialization: 'advanced',
    execArgv: [...process.execArgv, ...HEAP_OPTIONS],
    // Each glibc arena retains the memory that its threads freed; bitmaps are allocated by many threads, one at a time.
    env: { MALLOC_ARENA_MAX: '2', ...childEnvironment(process.env), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return { child, startedAt }
}
