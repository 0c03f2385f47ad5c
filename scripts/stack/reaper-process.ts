/**
 * Ends what its parent started when the parent is gone, be it by SIGKILL. The parent keeps the other end of stdin open as
 * long as it lives and says there, one JSON per line, what would have to go.
 */
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { acquireLock } from './lock.ts'
import { type Stoppable, stopProcesses } from './processes.ts'
import type { Message } from './reaper.ts'

// Its life ends with the pipe and with nothing else: a signal to all would otherwise leave the others without it.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const lockPath: string | undefined = process.argv[2]
const lock = lockPath === undefined ? undefined : acquireLock(lockPath)
if (lock !== undefined && 'heldBy' in lock) throw new Error(`${lockPath} is taken`)
// A parent that was killed meanwhile does not read the line. EPIPE must not end the process that cleans up after the parent.
process.stdout.on('error', () => {})
process.stdout.write('ready\n')

const processes = new Map<number, Stoppable>()
const folders = new Set<string>()
for await (const line of createInterface(process.stdin)) {
  const message = JSON.parse(line) as Message
  if ('add' in message) processes.set(message.add.pid, message.add)
  else if ('drop' in message) processes.delete(message.drop)
  else folders.add(message.remove)
}
await stopProcesses([...processes.values()])
for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 3 })
// Also keeps the lock in use until here.
lock?.release()
process.exit(0)
