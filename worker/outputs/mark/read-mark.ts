import { readBounded } from '../../../api/shared/network/bounded-body.ts'
import { findMark } from './find-mark.ts'

// Reads the mark of the image on standard input, where a worker runs: with its MARK_DIR and DATABASE_URL. Prints a line of JSON.

/** The file shares the memory of the worker. */
const MAX_BYTES = 64 * 1024 * 1024

try {
  const { MARK_DIR: folder = '', DATABASE_URL: databaseUrl = '' } = process.env
  if (folder === '' || databaseUrl === '') throw new Error('Set MARK_DIR and DATABASE_URL, as workers have them.')
  const { bytes, isCut } = await readBounded(process.stdin, MAX_BYTES)
  if (isCut) throw new Error('The file is larger than 64 MB.')
  console.log(JSON.stringify(await findMark(bytes, { folder, databaseUrl })))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(2)
}
