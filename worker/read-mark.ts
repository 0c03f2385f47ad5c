import { buffer } from 'node:stream/consumers'
import { findMark } from './mark/find-mark.ts'

// Reads the mark of the image on standard input, where a worker runs: with its MARK_DIR and DATABASE_URL. Prints a line of JSON.

try {
  const { MARK_DIR: folder = '', DATABASE_URL: databaseUrl = '' } = process.env
  if (folder === '' || databaseUrl === '') throw new Error('Set MARK_DIR and DATABASE_URL, as workers have them.')
  console.log(JSON.stringify(await findMark(await buffer(process.stdin), { folder, databaseUrl })))
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exit(2)
}
