import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Size and SHA-256, in lower-case hex, of every file of a folder by its name, in the order of names. */
export async function fingerprintFiles(folder: string): Promise<Record<string, { sha256: string; bytes: number }>> {
  const files = (await readdir(folder)).sort().map(async (name) => {
    const bytes = await readFile(join(folder, name))
    return [name, { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }] as const
  })
  return Object.fromEntries(await Promise.all(files))
}
