import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { EngineFile } from './settings.ts'

/**
 * Reads every file and compares its size and its SHA-256. Returns the bytes of all of them.
 * @throws Error that names the first file that is missing or another one
 */
export async function verifyFiles(files: readonly EngineFile[], folder: string): Promise<number> {
  for (const file of files) {
    const problem = await findProblem(file, folder)
    if (problem !== null) throw new Error(`${file.path} ${problem}`)
  }
  return files.reduce((sum, { bytes }) => sum + bytes, 0)
}

/** What is wrong with a file: it is missing, cannot be read, or has another size or SHA-256; null when nothing is. */
export async function findProblem({ path, sha256, bytes }: EngineFile, folder: string): Promise<string | null> {
  const full = join(folder, path)
  const found = await stat(full).catch(() => null)
  if (!found?.isFile()) return 'is missing'
  // Cheaper to see than a digest.
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
