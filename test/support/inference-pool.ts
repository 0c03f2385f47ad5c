import { type ChildProcess, type ForkOptions, fork } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { deserialize, serialize } from 'node:v8'
import type { FromProcess, ToProcess, TryOnRequest } from '../../worker/inference/protocol.ts'

/** What a test file sends, `start` first. */
export type ToPool =
  | {
      readonly type: 'start'
      readonly program: string
      readonly args: readonly string[]
      readonly options: ForkOptions
    }
  | { readonly type: 'message'; readonly message: ToProcess }
  | { readonly type: 'kill'; readonly signal: NodeJS.Signals }

export type FromPool =
  | { readonly type: 'message'; readonly message: FromProcess }
  | { readonly type: 'exit'; readonly exitCode: number | null; readonly signalCode: NodeJS.Signals | null }

/** A process that has opened its models. */
interface Ready {
  readonly key: string
  readonly child: ChildProcess
  readonly message: FromProcess
}

/** Each holds about 250 MB. */
const MAX_IDLE = 6

/**
 * Lends inference processes to test files: one that an earlier worker stopped, if it has the same variables. A start costs 1.6 s of
 * processor time, and 7 s with the self-test of `warp`. A process that a worker kills, or stops in the middle of work, ends.
 */
export async function offerInference(): Promise<{ port: number; stop: () => void }> {
  const idle: Ready[] = []
  const keep = (one: Ready) => {
    one.child.once('exit', () => {
      const at = idle.indexOf(one)
      if (at >= 0) idle.splice(at, 1)
    })
    idle.push(one)
    if (idle.length > MAX_IDLE) idle.shift()?.child.kill('SIGKILL')
  }
  const take = (key: string) => {
    const at = idle.findIndex((one) => one.key === key)
    return at < 0 ? undefined : idle.splice(at, 1)[0]
  }
  const server = createServer((socket) => {
    let receive: ((message: ToPool) => void) | undefined
    readFrames<ToPool>(socket, (message) => {
      if (message.type !== 'start') return receive?.(message)
      const { program, args, options } = message
      const key = JSON.stringify([program, options.execArgv, Object.entries(options.env ?? {}).sort()])
      const found = take(key)
      // A message to a process that ends is an error of its channel.
      const child = found?.child ?? fork(new URL(program), args, options).on('error', () => {})
      receive = lend(socket, { key, child, ready: found?.message, keep })
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const stop = () => {
    server.close()
    for (const { child } of idle) child.kill('SIGKILL')
  }
  return { port: (server.address() as AddressInfo).port, stop }
}

interface Loan {
  readonly key: string
  readonly child: ChildProcess
  readonly ready: FromProcess | undefined
  readonly keep: (one: Ready) => void
}

/** Connects a process with one worker. Returns what receives the messages of the worker. */
function lend(socket: Socket, { key, child, ready: known, keep }: Loan): (message: ToPool) => void {
  let ready = known
  const running = new Set<number>()
  const garments = new Set<string>()
  const onMessage = (message: FromProcess) => {
    if (message.type === 'ready') ready = message
    if (message.type === 'done' || message.type === 'failed') running.delete(message.id)
    writeFrame(socket, { type: 'message', message } satisfies FromPool)
  }
  const end = (exitCode: number | null, signalCode: NodeJS.Signals | null) => {
    child.off('message', onMessage).off('exit', end)
    socket.off('close', kill)
    socket.end(frame({ type: 'exit', exitCode, signalCode } satisfies FromPool))
  }
  const kill = () => child.kill('SIGKILL')
  child.on('message', onMessage).on('exit', end)
  socket.on('close', kill)
  if (known !== undefined) writeFrame(socket, { type: 'message', message: known } satisfies FromPool)
  return (message) => {
    if (message.type === 'message') {
      const { message: sent } = message
      if (sent.type === 'run') {
        running.add(sent.id)
        garments.add((sent.request as Partial<TryOnRequest>).garmentHash ?? '')
      }
      // Tests measure no time.
      if (child.connected && sent.type !== 'warm') child.send(sent)
    } else if (message.type === 'kill') {
      if (message.signal !== 'SIGTERM' || ready === undefined || running.size > 0 || !child.connected)
        return void child.kill(message.signal)
      child.send({ type: 'evict', garmentHashes: [...garments] } satisfies ToProcess)
      end(0, null)
      keep({ key, child, message: ready })
    }
  }
}

export function writeFrame(socket: Socket, value: ToPool | FromPool): void {
  if (socket.writable) socket.write(frame(value))
}

/** Its length in 4 bytes, and the value. */
function frame(value: ToPool | FromPool): Buffer {
  const bytes = serialize(value)
  const size = Buffer.alloc(4)
  size.writeUInt32LE(bytes.length)
  return Buffer.concat([size, bytes])
}

export function readFrames<T>(socket: Socket, receive: (value: T) => void): void {
  let [parts, length]: [Buffer[], number] = [[], 0]
  // A connection that breaks ends as well.
  socket.on('error', () => {})
  socket.on('data', (part) => {
    parts.push(part as Buffer)
    length += part.length
    for (;;) {
      if (length < 4) return
      if (parts[0].length < 4) parts = [Buffer.concat(parts)]
      const end = 4 + parts[0].readUInt32LE(0)
      if (length < end) return
      const all = Buffer.concat(parts)
      parts = [all.subarray(end)]
      length -= end
      receive(deserialize(all.subarray(4, end)))
    }
  })
}
