import { createReadStream } from 'node:fs'
import { readFileInput } from './file-input.ts'

export * from './index.ts'

/**
 * The picture in a file, for whatever takes a picture. Throws what the file system says (`ENOENT`, …), and `FILE_TOO_LARGE`
 * before more than 10 MB are read.
 */
export function readPicture(path: string | URL): Promise<Blob> {
  return readFileInput(createReadStream(path))
}
