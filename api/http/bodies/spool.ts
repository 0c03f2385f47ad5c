import { randomUUID } from 'node:crypto'
import { type FileHandle, open, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { DrapeError } from '../../shared/contract/errors.ts'

/** Bodies up to this size stay in memory. */
const BUFFER_BYTES = 16 * 1024

/** Bytes of a body: the first 16 KB in memory, the rest in an unnamed file. */
export interface BodySpool {
  write(chunk: Buffer): Promise<void>
  read(): Readable
  close(): void
}

/** Writing throws a retryable `SERVICE_UNAVAILABLE` when the disk does not accept the bytes. */
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
        throw new DrapeError('SERVICE_UNAVAILABLE', 'The body cannot be stored right now. Send the request again.', {
          retryable: true,
          cause,
        })
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

/** A file that only this process can access, deleted when the process exits. */
async function openUnnamed(folder: string): Promise<FileHandle> {
  const path = join(folder, `drape-body-${randomUUID()}`)
  const file = await open(path, 'wx+', 0o600)
  await unlink(path)
  return file
}
