import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { DrapeError } from './shared/errors.ts'
import { claimRefused } from './shop-claim.ts'

/** One file of 10 MB with what a form writes around it. */
const MAX_FORM_BYTES = 11 * 1024 * 1024
const MB = 1024 * 1024
const MAX_TEXT_BYTES = MB
/** Of all requests together, since nobody has proved yet who sends them. */
const MAX_HELD_BYTES = 256 * 1024 * 1024
const MAX_MS = 30_000

export interface ReceivedBody {
  /** SHA-256 in lower-case hex. */
  readonly hash: string
  /** All of it at once. Only when the bytes were kept. */
  readonly bytes: () => Buffer
  /** The request once more, for whoever reads its body. Only when the bytes were kept. */
  readonly replay: () => IncomingMessage
  /** MUST be called when the request has ended. */
  readonly release: () => void
}

/**
 * Receives whole bodies before anything reads them. Throws `FILE_TOO_LARGE`, or `VALIDATION_FAILED` for a body without files;
 * a retryable `SERVICE_UNAVAILABLE` when too much is held already; `PROXY_SIGNATURE_INVALID` for a body that does not arrive.
 */
export function createBodyReceiver({
  maxTextBytes = MAX_TEXT_BYTES,
  maxHeldBytes = MAX_HELD_BYTES,
  maxMs = MAX_MS,
}: {
  maxTextBytes?: number
  maxHeldBytes?: number
  maxMs?: number
} = {}) {
  let held = 0

  return async (request: IncomingMessage, { keep }: { keep: boolean }): Promise<ReceivedBody> => {
    const hash = createHash('sha256')
    const chunks: Buffer[] = []
    const maxBytes = isForm(request) ? MAX_FORM_BYTES : maxTextBytes
    let bytes = 0
    const release = () => {
      held -= bytes
      bytes = 0
    }
    const take = (chunk: Buffer) => {
      bytes += chunk.length
      held += chunk.length
      if (bytes > maxBytes) throw tooLarge(request, maxBytes)
      if (held > maxHeldBytes)
        throw new DrapeError('SERVICE_UNAVAILABLE', 'Try again in a moment.', { retryable: true })
      hash.update(chunk)
      if (keep) chunks.push(chunk)
    }
    try {
      if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(request, maxBytes)
      await readWhole(request, take, maxMs)
    } catch (error) {
      release()
      throw error
    }
    return {
      hash: hash.digest('hex'),
      bytes: () => Buffer.concat(chunks),
      replay: () => replay(request, chunks),
      release,
    }
  }
}

function isForm(request: IncomingMessage): boolean {
  return /^multipart\//i.test(request.headers['content-type'] ?? '')
}

function tooLarge(request: IncomingMessage, maxBytes: number): DrapeError {
  if (isForm(request)) return new DrapeError('FILE_TOO_LARGE', 'A file is larger than 10 MB.')
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
    details: [{ path: '', message: `is larger than ${maxBytes / MB} MB` }],
  })
}

/** What is left when `take` throws is read and dropped, so that the answer reaches the sender. */
function readWhole(request: IncomingMessage, take: (chunk: Buffer) => void, maxMs: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onData = (chunk: Buffer) => {
    try {
      take(chunk)
    } catch (error) {
      reject(error)
    }
  }
  const onLost = () => reject(claimRefused())
  const timer = setTimeout(onLost, maxMs)
  // Its sender is gone, and nothing will tell so any more.
  if (request.destroyed) onLost()
  request.on('data', onData).once('end', resolve).once('close', onLost).once('error', onLost)
  return promise.finally(() => {
    clearTimeout(timer)
    request.off('data', onData).off('end', resolve).off('close', onLost)
    request.resume()
  })
}

function replay(request: IncomingMessage, chunks: Buffer[]): IncomingMessage {
  const { headers, headersDistinct, method, url, socket } = request
  const bytes = Readable.from(drain(chunks), { objectMode: false })
  return Object.assign(bytes, { headers, headersDistinct, method, url, socket }) as unknown as IncomingMessage
}

/** Lets go of each chunk that is given on. */
function* drain(chunks: Buffer[]): Generator<Buffer> {
  for (let chunk = chunks.shift(); chunk; chunk = chunks.shift()) yield chunk
}
