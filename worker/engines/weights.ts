import { createHash } from 'node:crypto'

/**
 * One hash for all model files of an engine: SHA-256, as hex, of a line `<sha256>  <path>` for each of them, sorted by path. In the folder of
 * the engine, `sha256sum PATH… | sha256sum` gives the same.
 */
export function hashWeights(
  files: readonly ({ readonly sha256: string } & ({ path: string } | { file: string }))[],
): string {
  const lines = files
    .map((file) => ({ path: 'path' in file ? file.path : file.file, sha256: file.sha256 }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map(({ path, sha256 }) => `${sha256}  ${path}\n`)
  return createHash('sha256').update(lines.join('')).digest('hex')
}
