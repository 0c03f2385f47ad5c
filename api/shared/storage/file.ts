import { randomUUID } from 'node:crypto'
import { access, constants, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  assertContentType,
  assertKey,
  DeletionRefused,
  isKey,
  type ObjectStorage,
  type StoredObject,
  storageError,
  withStorageErrors,
} from './object.ts'
import { signObjectLink, verifyObjectLink } from './object-link.ts'

export interface FileStorageSettings {
  /** Folder of the objects; created if missing. */
  readonly root: string
  /** Base URL of the API that serves `/objects/<key>`. */
  readonly publicUrl: string
  readonly signingSecret: string
}

const CONCURRENT_DELETIONS = 32
/** Errors that concern one file, for example an immutable one. */
const REFUSALS = ['EACCES', 'EPERM']

/** Stores objects as files of one folder, shared by the processes of one machine. The API serves their links. */
export function createFileStorage({ root, publicUrl, signingSecret }: FileStorageSettings): ObjectStorage {
  const base = `${publicUrl.replace(/\/+$/, '')}/objects/`
  const pathOf = (key: string) => {
    assertKey(key)
    return join(root, key)
  }
  const keyOf = (url: string) => {
    const key = url.startsWith(base) ? url.slice(base.length).split(/[?#]/, 1)[0] : ''
    return isKey(key) ? key : null
  }
  return {
    async put(key, content, { contentType }) {
      assertContentType(key, contentType)
      await writeWhole({ root, path: pathOf(key) }, content)
    },
    get: async (key) => orNull(readFile(pathOf(key))),
    async open(key) {
      const file = await orNull(open(pathOf(key)))
      if (file === null) return null
      const content = file.createReadStream()
      const { size } = await withStorageErrors(file.stat()).catch((fault) => {
        content.destroy()
        throw fault
      })
      return { content, bytes: size }
    },
    async delete(keys) {
      for (const key of keys) assertKey(key)
      const refused = new Map<string, unknown>()
      for (let i = 0; i < keys.length; i += CONCURRENT_DELETIONS) {
        const part = keys.slice(i, i + CONCURRENT_DELETIONS)
        const remove = (key: string) =>
          rm(pathOf(key), { force: true }).catch((cause: NodeJS.ErrnoException) => {
            if (!REFUSALS.includes(cause.code ?? '')) throw storageError(cause)
            refused.set(key, cause)
          })
        await Promise.all(part.map(remove))
        const [cause] = refused.values()
        // The whole folder is read-only or unavailable.
        if (i === 0 && refused.size === CONCURRENT_DELETIONS) throw storageError(cause)
      }
      const [cause] = refused.values()
      if (refused.size > 0) throw new DeletionRefused(refused.keys(), cause)
    },
    countVersioned: async () => 0,
    exists: async (key) => (await orNull(stat(pathOf(key)))) !== null,
    async signedUrl(key, { expiresInSeconds, filename }) {
      assertKey(key)
      const expiresAt = Date.now() + expiresInSeconds * 1000
      return `${base}${key}?${signObjectLink({ key, secret: signingSecret, expiresAt, filename })}`
    },
    keyOf,
    async isSignedUrl(url) {
      const key = keyOf(url)
      const query = URL.parse(url)?.searchParams
      return key !== null && !!query && verifyObjectLink({ key, secret: signingSecret, query, now: Date.now() })
    },
    list: (folder = '', { after = '' } = {}) => inPages(walk(root, folder, after)),
    async deleteIncomplete({ before, dryRun }) {
      const folder = join(root, INCOMPLETE)
      const names = (await orNull(readdir(folder))) ?? []
      let count = 0
      for (const name of names) {
        const about = await orNull(stat(join(folder, name)))
        if (about === null || about.mtime >= before) continue
        count++
        if (!dryRun) await withStorageErrors(rm(join(folder, name), { force: true }))
      }
      return count
    },
    async check() {
      await withStorageErrors(mkdir(join(root, INCOMPLETE), { recursive: true }))
      await withStorageErrors(access(root, constants.R_OK | constants.W_OK))
    },
    close() {},
  }
}

/** No key begins with a dot, so no link can read this folder. */
const INCOMPLETE = '.incomplete'

const PAGE = 1000

async function* inPages(objects: AsyncIterable<StoredObject>): AsyncGenerator<StoredObject[]> {
  let page: StoredObject[] = []
  for await (const object of objects) {
    if (page.push(object) < PAGE) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

/** The objects below a folder (empty, or ending in `/`) with keys after `after`, in the byte order of their keys. */
async function* walk(root: string, folder: string, after: string): AsyncGenerator<StoredObject> {
  const entries = (await orNull(readdir(join(root, folder), { withFileTypes: true }))) ?? []
  // Sort folders by their name with the slash that follows it in keys.
  const paths = entries.map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
  for (const path of paths.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    // Of the folders before `after`, only those around it contain later keys.
    if (path <= after && !(path.endsWith('/') && after.startsWith(path))) continue
    if (path.endsWith('/')) {
      if (!path.slice(folder.length).startsWith('.')) yield* walk(root, path, after)
      continue
    }
    const about = isKey(path) ? await orNull(stat(join(root, path))) : null
    if (about !== null) yield { key: path, bytes: about.size, modifiedAt: about.mtime }
  }
}

async function writeWhole(
  { root, path }: { root: string; path: string },
  content: Parameters<typeof writeFile>[1],
): Promise<void> {
  const incomplete = join(root, INCOMPLETE, randomUUID())
  try {
    await Promise.all([dirname(path), dirname(incomplete)].map((folder) => mkdir(folder, { recursive: true })))
    await writeFile(incomplete, content)
    await rename(incomplete, path)
  } catch (cause) {
    await rm(incomplete, { force: true }).catch(() => {})
    throw storageError(cause)
  }
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw storageError(cause)
  }
}
