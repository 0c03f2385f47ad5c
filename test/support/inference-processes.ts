import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { EventEmitter } from 'node:events'
import type { FromProcess, ToProcess, TryOnRequest } from '../../worker/inference/protocol.ts'

/** An idle process that has opened its models. */
interface Idle {
  readonly key: string
  readonly child: ChildProcess
  readonly ready: FromProcess
}

/** Each holds about 250 MB. */
const MAX_IDLE = 2
const idle: Idle[] = []

/**
 * Starts an inference process, or returns one that an earlier worker of this Vitest worker stopped, if it has the same variables: a start costs
 * 1.6 s of processor time, and 7 s with the self-test of `warp`. A process that a worker kills, or stops in the middle of work, ends.
 */
export function startInference(program: URL, args: readonly string[], options: ForkOptions): ChildProcess {
  const key = JSON.stringify([program, options.execArgv, Object.entries(options.env ?? {}).sort()])
  const at = idle.findIndex((one) => one.key === key)
  const [reused] = at < 0 ? [] : idle.splice(at, 1)
  const child = reused?.child ?? fork(program, args, options)
  return lend({ key, child, ready: reused?.ready ?? null })
}

/** What one worker sees of a process. */
function lend({ key, child, ready: known }: Omit<Idle, 'ready'> & { ready: FromProcess | null }): ChildProcess {
  let ready = known
  const running = new Set<number>()
  const garments = new Set<string>()
  const loan = Object.assign(new EventEmitter(), {
    pid: child.pid,
    exitCode: child.exitCode,
    signalCode: child.signalCode,
    send: (message: ToProcess) => {
      if (message.type === 'run') {
        running.add(message.id)
        garments.add((message.request as Partial<TryOnRequest>).garmentHash ?? '')
      }
      return child.connected && child.send(message)
    },
    kill: (signal?: NodeJS.Signals) => {
      if (signal !== 'SIGTERM' || ready === null || running.size > 0 || !child.connected) return child.kill(signal)
      for (const [event, listener] of Object.entries(listeners)) child.off(event, listener)
      child.send({ type: 'evict', garmentHashes: [...garments] } satisfies ToProcess)
      keep({ key, child, ready })
      setImmediate(() => loan.emit('exit', 0, null))
      return true
    },
  })
  const listeners = {
    message: (message: FromProcess) => {
      if (message.type === 'ready') ready = message
      if (message.type === 'done' || message.type === 'failed') running.delete(message.id)
      loan.emit('message', message)
    },
    error: (error: Error) => loan.emit('error', error),
    exit: (exitCode: number | null, signalCode: NodeJS.Signals | null) => {
      Object.assign(loan, { exitCode, signalCode })
      loan.emit('exit', exitCode, signalCode)
    },
  }
  child.on('error', listeners.error).on('exit', listeners.exit)
  // Node holds messages back until somebody listens.
  loan.once('newListener', () => {
    child.on('message', listeners.message)
    if (known !== null) setImmediate(() => loan.emit('message', known))
  })
  return loan as unknown as ChildProcess
}

function keep(one: Idle): void {
  one.child.unref()
  one.child.channel?.unref()
  one.child.once('exit', () => {
    const at = idle.indexOf(one)
    if (at >= 0) idle.splice(at, 1)
  })
  idle.push(one)
  if (idle.length > MAX_IDLE) idle.shift()?.child.kill('SIGKILL')
}
