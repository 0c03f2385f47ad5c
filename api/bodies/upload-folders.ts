import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DrapeError } from '../shared/errors.ts'

/** Longer than any request with files lives. */
const LEFT_BEHIND_MS = 600_000

/**
 * Runs work with an empty folder of its own, and deletes the folder with all that is in it afterwards. Folders that a process left
 * behind when it was killed are deleted by the next one. Throws a retryable `SERVICE_UNAVAILABLE` when no folder can be made.
 */
export function createUploadFolders(root: string): <T>(work: (folder: string) => Promise<T>) => Promise<T> {
  const cleaned = mkdir(root, { recursive: true, mode: 0o700 })
    .then(() => deleteLeftBehind(root))
    .catch(() => {})
  return async (work) => {
    await cleaned
    const folder = await makeFolder(root)
    try {
      return await work(folder)
    } finally {
      // A file that is only being opened may still appear in it, hence the retries. What stays is no reason to refuse finished work.
      await rm(folder, { recursive: true, force: true, maxRetries: 3 }).catch(() => {})
    }
  }
}

async function makeFolder(root: string): Promise<string> {
  try {
    await mkdir(root, { recursive: true, mode: 0o700 })
    return await mkdtemp(join(root, 'upload-'))
  } catch (cause) {
    throw new DrapeError('SERVICE_UNAVAILABLE', 'Files cannot be received at the moment. Send the request again.', {
      retryable: true,
      cause,
    })
  }
}

async function deleteLeftBehind(root: string): Promise<void> {
  const paths = (await readdir(root)).map((name) => join(root, name))
  const now = await readFileClock(root)
  await Promise.allSettled(
    paths.map(async (path) => {
      const { mtimeMs } = await stat(path)
      if (now - mtimeMs > LEFT_BEHIND_MS) await rm(path, { recursive: true, force: true })
    }),
  )
}

/** The time by which files are dated: a process with a wrong clock must not delete what other processes have just received. */
async function readFileClock(root: string): Promise<number> {
  const folder = await makeFolder(root)
  const { mtimeMs } = await stat(folder)
  await rm(folder, { recursive: true })
  return mtimeMs
}
