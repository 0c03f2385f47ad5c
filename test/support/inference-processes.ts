import type { ChildProcess, ForkOptions } from 'node:child_process'
import { EventEmitter } from 'node:events'
import { connect } from 'node:net'
import { inject } from 'vitest'
import type { FromProcess, ToProcess } from '../../worker/inference/protocol.ts'
import { type FromPool, readFrames, type ToPool, writeFrame } from './inference-pool.ts'

/** Borrows an inference process from the pool of all test files. */
export function startInference(program: URL, args: readonly string[], options: ForkOptions): ChildProcess {
  const socket = connect(inject('inferencePort'), '127.0.0.1')
  const send = (message: ToPool) => !socket.destroyed && writeFrame(socket, message)
  const loan = Object.assign(new EventEmitter(), {
    exitCode: null as number | null,
    signalCode: null as NodeJS.Signals | null,
    send: (message: ToProcess) => send({ type: 'message', message }),
    kill: (signal: NodeJS.Signals = 'SIGTERM') => send({ type: 'kill', signal }),
  })
  send({ type: 'start', program: program.href, args, options })
  // Like those of Node, its messages wait until somebody listens.
  loan.once('newListener', () =>
    readFrames<FromPool>(socket, (answer) => {
      if (answer.type === 'message') return void loan.emit('message', answer.message satisfies FromProcess)
      const { exitCode, signalCode } = answer
      Object.assign(loan, { exitCode, signalCode })
      socket.destroy()
      loan.emit('exit', exitCode, signalCode)
    }),
  )
  return loan as unknown as ChildProcess
}
