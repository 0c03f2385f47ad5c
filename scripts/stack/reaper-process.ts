/**
 * Stops the children of its parent when the parent exits, even by SIGKILL. The parent keeps the other end of stdin open
 * while it runs, and sends the processes to stop, one JSON per line.
 */
import { rm } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { acquireLock } from './lock.ts'
import { type Stoppable, stopProcesses } from './processes.ts'
import type { Message } from './reaper.ts'

// Exits only when the pipe closes: otherwise a signal to the group would leave the other processes running.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})

const lockPath: string | undefined = process.argv[2]
const lock = lockPath === undefined ? undefined : acquireLock(lockPath)
if (lock !== undefined && 'heldBy' in lock) throw new Error(`${lockPath} is taken`)
// A parent that was killed meanwhile does not read the line. EPIPE must not stop the clean-up.
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
// Also keeps the lock referenced until here.
lock?.release()
process.exit(0)
