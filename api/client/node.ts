import { createReadStream } from 'node:fs'
import { readFileInput } from './file-input.ts'

export * from './index.ts'

/**
 * Reads an image from a file. Throws errors of the file system (`ENOENT`, …), and `FILE_TOO_LARGE` before it reads more
 * than 10 MB.
 */
export function readPicture(path: string | URL): Promise<Blob> {
  return readFileInput(createReadStream(path))
}
