import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DrapeError, invalidField } from '../../shared/contract/errors.ts'
import { detectImageFormat, MIN_IMAGE_BYTES } from '../../shared/image/image-format.ts'

import { findFileKey } from './file-key-path.ts'
import { createMultipartParser, type Part } from './multipart-parser.ts'
import { decodeText, formatSize } from './text-body.ts'
import { fileTooLarge, type UploadedFile, WRITE_BUFFER_BYTES } from './uploaded-file.ts'

const MAX_FIELDS = 20
/** The list of brands of a HEIC ends within these bytes. */
const IMAGE_HEAD_BYTES = 256

export interface MultipartOptions {
  /** Folder of the files. */
  readonly folder: string
  readonly maxFiles: number
  readonly maxFileBytes: number
  /** Limit for all files together. */
  readonly maxFilesBytes: number
  /** Limit for all fields together. */
  readonly maxFieldsBytes: number
  /** Limit for the whole body. */
  readonly maxBytes: number
  /** Whether the hashes of the files are needed. */
  readonly isHashed: boolean
  /** Called with the size of each chunk before it is parsed. Throws to reject the body. */
  readonly onBytes: (bytes: number) => void
}

export interface Form {
  /** The first field of each name. */
  readonly fields: Readonly<Record<string, string>>
  readonly files: readonly UploadedFile[]
}

/**
 * Receives a multipart body: its fields in memory, its files in a folder. Throws `VALIDATION_FAILED` or
 * `FILE_TOO_LARGE` for an invalid body, a retryable `SERVICE_UNAVAILABLE` when a file cannot be written, and the error
 * of `onBytes`. Reads and drops the rest of a rejected body, so that the response reaches the sender.
 */
export async function readMultipart(request: IncomingMessage, options: MultipartOptions): Promise<Form> {
  const { receive, stop } = createPartReceiver(options)
  const receiving: Promise<Received>[] = []
  // A request that is read again from disk may fail when nothing reads it any more.
  request.on('error', () => {})
  try {
    const parser = createMultipartParser(request.headers['content-type'], (part) => {
      const received = receive(part)
      receiving.push(received)
      received.catch(parser.fail)
    })
    let bytes = 0
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length
      if (bytes > options.maxBytes) throw filesTooLarge(options.maxFilesBytes)
      options.onBytes(chunk.length)
      await parser.write(chunk)
    }
    await parser.end()
    return formOf(await Promise.all(receiving))
  } catch (error) {
    stop()
    await Promise.allSettled(receiving)
    throw refusalOf(error)
  } finally {
    request.resume()
  }
}

/** A field, or a file; null for a file input of a browser without a chosen file. */
type Received = { readonly name: string; readonly text: string } | UploadedFile | null

function createPartReceiver({
  folder,
  maxFiles,
  maxFileBytes,
  maxFilesBytes,
  maxFieldsBytes,
  isHashed,
}: MultipartOptions) {
  const streams: Readable[] = []
  let json: Uint8Array = Buffer.alloc(0)
  let [files, filesBytes, fields, fieldsBytes] = [0, 0, 0, 0]

  async function receive(part: Part): Promise<Received> {
    const { name, stream } = part
    streams.push(stream)
    if (isFile(part)) return store(part, stream)
    const sent = createByteBuffer()
    let mayBeImage = name !== 'data'
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
      sent.append(chunk)
      if (mayBeImage && sent.bytes().length >= MIN_IMAGE_BYTES) {
        if (detectImageFormat(sent.bytes()) !== undefined) return store(part, startingWith(sent.bytes(), stream))
        mayBeImage = sent.bytes().length < IMAGE_HEAD_BYTES
      }
      fieldsBytes += chunk.length
      if (fieldsBytes > maxFieldsBytes) throw invalidField('', `has fields of more than ${formatSize(maxFieldsBytes)}`)
      if (name === 'data') json = sent.bytes()
    }
    if (++fields > MAX_FIELDS) throw invalidField('', `has more than ${MAX_FIELDS} fields`)
    return { name, text: decodeText(sent.bytes(), name) }
  }

  async function store({ name, filename }: Part, content: AsyncIterable<Uint8Array>): Promise<UploadedFile | null> {
    if (++files > maxFiles) throw invalidField('', `has more than ${maxFiles} ${maxFiles === 1 ? 'file' : 'files'}`)
    // Names and types from callers are not trusted and never used on disk.
    const path = join(folder, randomUUID())
    const hash = isHashed ? createHash('sha256') : null
    let bytes = 0
    async function* metered(): AsyncGenerator<Uint8Array> {
      for await (const chunk of content) {
        bytes += chunk.length
        filesBytes += chunk.length
        if (bytes > maxFileBytes) throw fileTooLarge(findFileKey(Buffer.from(json).toString(), name) ?? name)
        if (filesBytes > maxFilesBytes) throw filesTooLarge(maxFilesBytes)
        hash?.update(chunk)
        yield chunk
      }
    }
    await pipeline(metered, createWriteStream(path, { flags: 'wx', mode: 0o600, highWaterMark: WRITE_BUFFER_BYTES }))
    // For a file input without a chosen file, browsers send an empty file without a name.
    return bytes === 0 && filename === '' ? null : { field: name, path, bytes, hash: hash?.digest('hex') ?? null }
  }

  return {
    receive,
    stop: () => {
      for (const stream of streams) stream.destroy()
    },
  }
}

/**
 * Many clients set the type of every part, fields included, and some send the JSON as a file. Others send an image
 * without filename and type: its first bytes tell it from a field.
 */
function isFile({ name, filename, type }: Part): boolean {
  if (name === 'data') return false
  return name === 'file' || filename !== undefined || !/^text\/|^application\/json$/.test(type)
}

async function* startingWith(head: Uint8Array, rest: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  yield head
  yield* rest
}

function formOf(received: readonly Received[]): Form {
  const fields = new Map<string, string>()
  const files: UploadedFile[] = []
  for (const part of received) {
    if (part === null) continue
    if ('path' in part) files.push(part)
    else if (!fields.has(part.name)) fields.set(part.name, part.text)
  }
  return { fields: Object.fromEntries(fields), files }
}

function filesTooLarge(maxBytes: number): DrapeError {
  const limit = `are larger than ${formatSize(maxBytes)} together`
  return new DrapeError('FILE_TOO_LARGE', `The files ${limit}.`, { details: [{ path: '', message: limit }] })
}

const DISK_ERRORS = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS', 'EMFILE', 'ENFILE']

function refusalOf(error: unknown): DrapeError {
  if (error instanceof DrapeError) return error
  if (!DISK_ERRORS.includes(String((error as NodeJS.ErrnoException).code))) return invalidField('', 'could not be read')
  return new DrapeError('SERVICE_UNAVAILABLE', 'Files cannot be received right now. Send the request again.', {
    retryable: true,
    cause: error,
  })
}

/** Bytes in one growing buffer: a sender can split a body into chunks that each take more memory than their bytes. */
interface ByteBuffer {
  append(chunk: Uint8Array): void
  /** All bytes so far. */
  bytes(): Buffer
}

function createByteBuffer(): ByteBuffer {
  let buffer = Buffer.alloc(0)
  let length = 0
  return {
    append: (chunk) => {
      if (length + chunk.length > buffer.length) {
        const larger = Buffer.allocUnsafeSlow(Math.max(2 * buffer.length, length + chunk.length))
        buffer.copy(larger, 0, 0, length)
        buffer = larger
      }
      buffer.set(chunk, length)
      length += chunk.length
    },
    bytes: () => buffer.subarray(0, length),
  }
}
