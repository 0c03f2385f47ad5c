import { createWriteStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { DrapeError } from '../../shared/contract/errors.ts'
import { WRITE_BUFFER_BYTES } from './uploaded-file.ts'

export interface ReceiveLimits {
  readonly maxBytes: number
  readonly maxMs: number
  /** Called with the size of each chunk before it is written. Throws a DrapeError to reject the body. */
  readonly onBytes?: (bytes: number) => void
}

/**
 * Streams the body of a request to a file. Throws `FILE_TOO_LARGE` at the first byte over the limit,
 * `VALIDATION_FAILED` on a timeout or when the sender disconnects, the error of `onBytes`, and a retryable
 * `SERVICE_UNAVAILABLE` when the file cannot be written. After an error, reads and drops the rest of the body, so that
 * the response reaches the sender.
 */
export async function receiveFile(request: IncomingMessage, path: string, limits: ReceiveLimits): Promise<void> {
  const { maxBytes, maxMs, onBytes = () => {} } = limits
  if (Number(request.headers['content-length']) > maxBytes) throw tooLarge(maxBytes)
  const counted = countBytes(maxBytes, onBytes)
  const hangUp = () => {
    if (!request.readableEnded) counted.destroy(incomplete('did not arrive completely'))
  }
  request.once('close', hangUp).pipe(counted)
  if (request.destroyed) hangUp()
  const late = AbortSignal.timeout(maxMs)
  try {
    await pipeline(counted, createWriteStream(path, { highWaterMark: WRITE_BUFFER_BYTES }), { signal: late })
  } catch (error) {
    if (late.aborted) throw incomplete(`did not arrive within ${maxMs / 1000} seconds`)
    throw error instanceof DrapeError ? error : unwritable(error)
  } finally {
    request.off('close', hangUp).unpipe(counted)
    request.resume()
  }
}

function countBytes(maxBytes: number, onBytes: (bytes: number) => void): Transform {
  let bytes = 0
  return new Transform({
    transform: (chunk: Buffer, _, done) => {
      bytes += chunk.length
      if (bytes > maxBytes) return done(tooLarge(maxBytes))
      try {
        onBytes(chunk.length)
        done(null, chunk)
      } catch (error) {
        done(error as Error)
      }
    },
  })
}

function tooLarge(maxBytes: number): DrapeError {
  const limit = `is larger than ${maxBytes / 1024 / 1024} MB`
  return new DrapeError('FILE_TOO_LARGE', `The file ${limit}.`, { details: [{ path: '', message: limit }] })
}

function incomplete(message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', { details: [{ path: '', message }] })
}

function unwritable(cause: unknown): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'Files cannot be received right now. Send the request again.', {
    retryable: true,
    cause,
  })
}
