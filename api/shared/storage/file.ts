import { randomUUID } from 'node:crypto'
import { access, constants, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { demandContentType, demandKey, isKey, type ObjectStorage, storageFault } from './object.ts'
import { signObjectLink } from './object-link.ts'

export interface FileStorageSettings {
  /** The folder that holds the objects; made when it is missing. */
  readonly root: string
  /** Base of the API that serves `/objects/<key>`. */
  readonly publicUrl: string
  readonly signingSecret: string
}

const DELETED_AT_ONCE = 32

/** Objects as files of one folder, shared by the processes of one machine. The API serves their links. */
export function createFileStorage({ root, publicUrl, signingSecret }: FileStorageSettings): ObjectStorage {
  const base = `${publicUrl.replace(/\/+$/, '')}/objects/`
  const pathOf = (key: string) => {
    demandKey(key)
    return join(root, key)
  }
  return {
    async put(key, content, { contentType }) {
      demandContentType(key, contentType)
      await writeWhole({ root, path: pathOf(key) }, content)
    },
    get: async (key) => orNull(readFile(pathOf(key))),
    async open(key) {
      const file = await orNull(open(pathOf(key)))
      if (file === null) return null
      const content = file.createReadStream()
      const { size } = await faultless(file.stat()).catch((fault) => {
        content.destroy()
        throw fault
      })
      return { content, bytes: size }
    },
    async delete(keys) {
      const paths = keys.map(pathOf)
      for (let i = 0; i < paths.length; i += DELETED_AT_ONCE) {
        await faultless(Promise.all(paths.slice(i, i + DELETED_AT_ONCE).map((path) => rm(path, { force: true }))))
      }
    },
    exists: async (key) => (await orNull(stat(pathOf(key)))) !== null,
    async signedUrl(key, { expiresInSeconds, filename }) {
      demandKey(key)
      const expiresAt = Date.now() + expiresInSeconds * 1000
      return `${base}${key}?${signObjectLink({ key, secret: signingSecret, expiresAt, filename })}`
    },
    keyOf(url) {
      const key = url.startsWith(base) ? url.slice(base.length).split(/[?#]/, 1)[0] : ''
      return isKey(key) ? key : null
    },
    async check() {
      await faultless(mkdir(join(root, INCOMPLETE), { recursive: true }))
      await faultless(access(root, constants.R_OK | constants.W_OK))
    },
    close() {},
  }
}

/** No key begins with a dot, so nobody can read what lies here. */
const INCOMPLETE = '.incomplete'

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
    throw storageFault(cause)
  }
}

async function orNull<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading
  } catch (cause) {
    if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null
    throw storageFault(cause)
  }
}

async function faultless<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    throw storageFault(cause)
  }
}
