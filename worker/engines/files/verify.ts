import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { EngineFile } from './settings.ts'

/**
 * Compares the size and the SHA-256 of every file. Returns the total number of bytes.
 * @throws Error that names the first file that is missing or differs
 */
export async function verifyFiles(files: readonly EngineFile[], folder: string): Promise<number> {
  for (const file of files) {
    const problem = await findProblem(file, folder)
    if (problem !== null) throw new Error(`${file.path} ${problem}`)
  }
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** Describes the problem of a file: missing, unreadable, wrong size or wrong SHA-256. Returns null for a valid file. */
export async function findProblem({ path, sha256, bytes }: EngineFile, folder: string): Promise<string | null> {
  const full = join(folder, path)
  const found = await stat(full).catch(() => null)
  if (!found?.isFile()) return 'is missing'
  // Compare sizes first: cheaper than a digest.
  if (found.size !== bytes) return `has ${found.size} bytes, expected ${bytes}`
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(full, { highWaterMark: 1 << 20 }), hash)
  } catch (error) {
    return `cannot be read: ${error instanceof Error ? error.message : error}`
  }
  const digest = hash.digest('hex')
  return digest === sha256 ? null : `has the SHA-256 ${digest}, expected ${sha256}`
}
