import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { acquireLock, waitForLock } from './lock.ts'
import { type Stoppable, stopProcesses } from './processes.ts'
import { type Reaper, startReaper } from './reaper.ts'

/** The data folder of a stack, locked by this process. */
export interface DataFolder {
  readonly reaper: Reaper
  readonly logFolder: string
  release(): Promise<void>
}

/**
 * Locks the folder for this process and stops processes that earlier owners left running. Throws if another stack uses it.
 */
export async function takeDataFolder(path: string, say: (text: string) => void): Promise<DataFolder> {
  const [runFolder, logFolder] = [join(path, 'run'), join(path, 'logs')]
  for (const folder of [runFolder, logFolder]) await mkdir(folder, { recursive: true })
  const lock = acquireLock(join(runFolder, 'stack.lock'))
  if ('heldBy' in lock)
    throw new Error(`A stack is already running in ${path} (${lock.heldBy}); another one needs its own DATA_DIR`)

  const lockPath = join(runFolder, 'reaper.lock')
  const listPath = join(runFolder, 'processes.json')
  await waitForLock(lockPath, () => say('Waiting for the previous stack to end …'))
  await stopProcesses(await readList(listPath))
  const reaper = await startReaper({ lockPath, listPath })
  return {
    reaper,
    logFolder,
    release: async () => {
      await reaper.close()
      lock.release()
    },
  }
}

/** A key of this stack, generated on first use: one signs links and cursors, the other encrypts secrets in the database. */
export async function readStackKey(dataFolder: string, name: 'signing-secret' | 'secrets-key'): Promise<string> {
  const path = join(dataFolder, name)
  try {
    return await readFile(path, 'utf8')
  } catch {
    const key = randomBytes(32).toString('hex')
    await writeFile(path, key, { mode: 0o600 })
    return key
  }
}

/** An empty folder for temporary files of the programs; deletes remains of killed ones. */
export async function emptyTemporaryFolder(dataFolder: string): Promise<string> {
  const path = join(dataFolder, 'tmp')
  await rm(path, { recursive: true, force: true })
  await mkdir(path)
  return path
}

async function readList(path: string): Promise<Stoppable[]> {
  try {
    return JSON.parse(await readFile(path, 'utf8'))
  } catch {
    // No stack has run here yet.
    return []
  }
}
