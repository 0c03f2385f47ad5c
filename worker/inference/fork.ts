import { type ChildProcess, fork } from 'node:child_process'
import { childEnvironment } from './child-environment.ts'

/** A process that has just been started; its messages wait for the first listener. */
export interface InferenceProcess {
  readonly child: ChildProcess
  /** By `performance.now()` and `Date.now()`, in ms. */
  readonly startedAt: { readonly clock: number; readonly date: number }
}

/** Starts a process that runs the module `program` with the variables of `env`. */
export function forkInference({
  program,
  env,
}: {
  program: URL
  env: Readonly<Record<string, string>>
}): InferenceProcess {
  const startedAt = { clock: performance.now(), date: Date.now() }
  const child = fork(program, [], {
    serialization: 'advanced',
    // Pixels lie outside of V8's heap. What lies in it is short-lived: room for more of it would only be held, over 100 MB of it.
    execArgv: [...process.execArgv, '--expose-gc', '--max-semi-space-size=8'],
    // Each of glibc's arenas keeps what its threads gave back; pictures come from many threads, one at a time.
    env: { MALLOC_ARENA_MAX: '2', ...childEnvironment(process.env), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return { child, startedAt }
}
