import { readFileSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'

/** A lock that the operating system releases when its holder exits for any reason. */
export interface Lock {
  release(): void
}

/** Acquires the lock, or returns its holder. An SQLite transaction is the only OS lock that Node offers. */
export function acquireLock(path: string): Lock | { readonly heldBy: string } {
  const database = new DatabaseSync(path)
  try {
    database.exec('begin exclusive')
  } catch (error) {
    database.close()
    if (isBusy(error)) return { heldBy: readHolder(path) }
    throw error
  }
  writeFileSync(`${path}.pid`, String(process.pid))
  return { release: () => database.close() }
}

/** Resolves when the lock is free; calls `onWait` once if it is not. */
export async function waitForLock(path: string, onWait: () => void): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const lock = acquireLock(path)
    if ('release' in lock) return lock.release()
    if (attempt === 0) onWait()
    await sleep(100)
  }
}

/** Acquires the lock as soon as it is free. */
export async function takeLock(path: string): Promise<Lock> {
  for (;;) {
    const lock = acquireLock(path)
    if ('release' in lock) return lock
    await sleep(200)
  }
}

// SQLITE_BUSY
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5
}

function readHolder(path: string): string {
  try {
    return `process ${readFileSync(`${path}.pid`, 'utf8')}`
  } catch {
    return 'another process'
  }
}
