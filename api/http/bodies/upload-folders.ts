import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DrapeError } from '../../shared/contract/errors.ts'

/** Exceeds the lifetime of any request with files. */
const MAX_AGE_MS = 600_000

/**
 * Runs work with its own empty folder and deletes the folder and its content afterwards. A later call deletes the
 * folders of processes that were killed. Throws a retryable `SERVICE_UNAVAILABLE` when the folder cannot be created.
 */
export function createUploadFolders(root: string): <T>(work: (folder: string) => Promise<T>) => Promise<T> {
  const cleaned = mkdir(root, { recursive: true, mode: 0o700 })
    .then(() => deleteStale(root))
    .catch(() => {})
  return async (work) => {
    await cleaned
    const folder = await makeFolder(root)
    try {
      return await work(folder)
    } finally {
      // Retries, because a file that is being opened may still appear in the folder. Leftovers do not fail finished
      // work.
      await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
    }
  }
}

async function makeFolder(root: string): Promise<string> {
  try {
    await mkdir(root, { recursive: true, mode: 0o700 })
    return await mkdtemp(join(root, 'upload-'))
  } catch (cause) {
    throw new DrapeError('SERVICE_UNAVAILABLE', 'Files cannot be received right now. Send the request again.', {
      retryable: true,
      cause,
    })
  }
}

async function deleteStale(root: string): Promise<void> {
  const paths = (await readdir(root)).map((name) => join(root, name))
  const now = await readFileClock(root)
  await Promise.allSettled(
    paths.map(async (path) => {
      const { mtimeMs } = await stat(path)
      if (now - mtimeMs > MAX_AGE_MS) await rm(path, { recursive: true, force: true })
    }),
  )
}

/**
 * Reads the clock of the file system, which dates the files: a process with a wrong clock must not delete the current
 * files of other processes.
 */
async function readFileClock(root: string): Promise<number> {
  const folder = await makeFolder(root)
  const { mtimeMs } = await stat(folder)
  await rm(folder, { recursive: true })
  return mtimeMs
}
