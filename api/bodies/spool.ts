import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { DrapeError } from '../shared/errors.ts'

/** Bodies up to this size never reach the disk. */
const BUFFER_BYTES = 16 * 1024

/** Bytes of a body: the first 16 KB in memory, more of them in a file without a name. */
export interface BodySpool {
  write(chunk: Buffer): Promise<void>
  read(): Readable
  close(): void
}

/** Throws a retryable `SERVICE_UNAVAILABLE` on writing when the disk does not take the bytes. */
export function createBodySpool(folder = tmpdir()): BodySpool {
  let buffer: Buffer | null = null
  let used = 0
  let file: FileHandle | null = null
  let isClosed = false

  const flush = async () => {
    file ??= await openUnnamed(folder)
    // The request ended while the file was being opened.
    if (isClosed) return closeFile()
    if (used > 0 && buffer !== null) await file.writeFile(buffer.subarray(0, used))
    used = 0
  }
  const closeFile = () => {
    file?.close().catch(() => {})
    file = null
  }

  return {
    write: async (chunk) => {
      buffer ??= Buffer.allocUnsafeSlow(BUFFER_BYTES)
      if (used + chunk.length <= BUFFER_BYTES) {
        used += chunk.copy(buffer, used)
        return
      }
      try {
        await flush()
        if (chunk.length > BUFFER_BYTES) await file?.writeFile(chunk)
        else used = chunk.copy(buffer, 0)
      } catch (cause) {
        throw new DrapeError(
          'SERVICE_UNAVAILABLE',
          'The body cannot be stored at the moment. Send the request again.',
          {
            retryable: true,
            cause,
          },
        )
      }
    },
    read: () => Readable.from(chunksOf(), { objectMode: false }),
    close: () => {
      isClosed = true
      buffer = null
      closeFile()
    },
  }

  async function* chunksOf(): AsyncGenerator<Buffer> {
    if (file !== null) for await (const chunk of file.createReadStream({ start: 0, autoClose: false })) yield chunk
    if (used > 0 && buffer !== null) yield buffer.subarray(0, used)
  }
}

/** A file that only this process can reach, and that ends with it. */
async function openUnnamed(folder: string): Promise<FileHandle> {
  const path = join(folder, `drape-body-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
