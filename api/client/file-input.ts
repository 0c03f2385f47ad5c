import { DrapeApiError } from './api-error.ts'

/** Bytes of an image: a browser file, a Buffer, or a stream of the web or of Node. */
export type FileInput = Blob | ArrayBuffer | ArrayBufferView | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>

/** 10 MB (2^20 bytes each), the service's limit. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024

/**
 * Buffers the bytes so that they can be sent more than once. Throws `FILE_TOO_LARGE`, like the service, before anything
 * is sent; reads no more than the limit from a stream.
 */
export async function readFileInput(input: FileInput): Promise<Blob> {
  const blob = await toBlob(input)
  if (blob.size > MAX_FILE_BYTES) throw tooLarge()
  return blob
}

/** Whether the input is bytes rather than an object that names them. */
export function isFileInput(input: unknown): input is FileInput {
  if (typeof input !== 'object' || input === null) return false
  return (
    input instanceof Blob ||
    input instanceof ArrayBuffer ||
    ArrayBuffer.isView(input) ||
    'getReader' in input ||
    Symbol.asyncIterator in input
  )
}

async function toBlob(input: FileInput): Promise<Blob> {
  if (input instanceof Blob) return input
  if (input instanceof ArrayBuffer) return new Blob([input])
  if (ArrayBuffer.isView(input)) return new Blob([copyOf(input)])
  const parts: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  for await (const chunk of 'getReader' in input ? chunksOf(input) : input) {
    size += chunk.byteLength
    if (size > MAX_FILE_BYTES) throw tooLarge()
    parts.push(copyOf(chunk))
  }
  return new Blob(parts)
}

/** Not every browser can iterate a stream. */
async function* chunksOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  let ended = false
  try {
    for (;;) {
      const { done, value } = await reader.read()
      ended = done
      if (value === undefined) return
      yield value
    }
  } finally {
    if (!ended) await reader.cancel()
  }
}

function copyOf(view: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(new Uint8Array(view.buffer, view.byteOffset, view.byteLength))
}

function tooLarge(): DrapeApiError {
  return new DrapeApiError('The file is larger than 10 MB.', { code: 'FILE_TOO_LARGE', status: 413 })
}
