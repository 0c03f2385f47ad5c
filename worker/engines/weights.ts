import { createHash } from 'node:crypto'

/**
 * One hash for all model files of an engine: the hex SHA-256 of a line `<sha256>  <path>` per file, sorted by path. In the engine's folder,
 * `sha256sum PATH… | sha256sum` prints the same hash.
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
