import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { DrapeError } from '../../shared/contract/errors.ts'
import { claimRefused } from '../../shops/signed-request.ts'
import { type BodyBudgetLimits, type BodyOwner, createBodyBudget } from './body-budget.ts'
import { createBodySpool } from './spool.ts'
import { fileTooLarge } from './uploaded-file.ts'

const MB = 1024 * 1024
/** One file of 10 MB and the other parts of its form. */
const MAX_UPLOAD_BYTES = 11 * MB
/** Shopify sends the whole order, which has many MB in large shops. */
const MAX_WEBHOOK_BYTES = 4 * MB
const UPLOAD_PATH = /^\/public\/upload-image\/?(\?|$)/i
const WEBHOOK_PATH = /^\/webhooks\/shopify\/?(\?|$)/i
const GRACE_MS = 5000
/** After the first seconds: a stalled body would hold its share of the budget. */
const MIN_BYTES_PER_SECOND = 16 * 1024
const CHECK_MS = 500

export interface ReceivedBody {
  /** SHA-256 as a lower-case hex string. */
  readonly hash: string
  /** The whole body. */
  readonly bytes: () => Promise<Buffer>
  /** The body as a stream, from its start. */
  readonly read: () => AsyncIterable<Buffer>
  /** The request with its body from the start, for a parser. */
  readonly replay: () => IncomingMessage
  /** Records that the owner is authenticated: further bodies count against the shop's own limit. */
  readonly trust: () => void
  /** MUST be called when the request has ended. */
  readonly release: () => void
}

export interface BodyReceiverOptions extends BodyBudgetLimits {
  /** Time limit for receiving a body. */
  readonly maxMs?: number
  readonly graceMs?: number
  readonly folder?: string
}

export type ReceiveBody = ReturnType<typeof createBodyReceiver>

/**
 * Receives whole bodies before their signature is checked, on disk beyond 16 KB each. Maximum: 1 MB, 4 MB for a
 * Shopify webhook, 11 MB for an image upload. Throws `FILE_TOO_LARGE` or `VALIDATION_FAILED` for a larger body; a
 * retryable `SERVICE_UNAVAILABLE` when the sender already holds too many bytes; `PROXY_SIGNATURE_INVALID` for a body
 * that does not arrive, or too slowly.
 */
export function createBodyReceiver({
  maxMs = 30_000,
  graceMs = GRACE_MS,
  folder,
  ...limits
}: BodyReceiverOptions = {}) {
  const budget = createBodyBudget(limits)
  const maxBytesOf = (path: string) => {
    if (UPLOAD_PATH.test(path)) return MAX_UPLOAD_BYTES
    return WEBHOOK_PATH.test(path) ? MAX_WEBHOOK_BYTES : MB
  }

  return async (request: IncomingMessage, owner: BodyOwner): Promise<ReceivedBody> => {
    const path = request.url ?? ''
    const maxBytes = maxBytesOf(path)
    if (Number(request.headers['content-length']) > maxBytes) {
      request.resume()
      throw tooLarge(path, maxBytes)
    }
    const share = budget.open(owner)
    if (share === null) {
      request.resume()
      throw overloaded()
    }
    const hash = createHash('sha256')
    const spool = createBodySpool(folder)
    const release = () => {
      spool.close()
      share.release()
    }
    let bytes = 0
    const write = async (chunk: Buffer): Promise<void> => {
      bytes += chunk.length
      if (bytes > maxBytes) throw tooLarge(path, maxBytes)
      if (!share.add(chunk.length)) throw overloaded()
      hash.update(chunk)
      await spool.write(chunk)
    }
    try {
      await readWhole(request, {
        write,
        isTooSlow: (ms) => bytes < (MIN_BYTES_PER_SECOND * (ms - graceMs)) / 1000,
        maxMs,
      })
    } catch (error) {
      release()
      throw error
    }
    return {
      hash: hash.digest('hex'),
      bytes: () => buffer(spool.read()),
      read: () => spool.read(),
      replay: () => {
        const { headers, headersDistinct, method, url, socket } = request
        return Object.assign(spool.read(), {
          headers,
          headersDistinct,
          method,
          url,
          socket,
        }) as unknown as IncomingMessage
      },
      trust: share.trust,
      release,
    }
  }
}

function tooLarge(path: string, maxBytes: number): DrapeError {
  if (UPLOAD_PATH.test(path)) return fileTooLarge('file')
  return new DrapeError('VALIDATION_FAILED', 'The request is not valid.', {
    details: [{ path: '', message: `is larger than ${maxBytes / MB} MB` }],
  })
}

function overloaded(): DrapeError {
  return new DrapeError('SERVICE_UNAVAILABLE', 'Too many requests are being received. Try again in a moment.', {
    retryable: true,
  })
}

/**
 * Writes chunk by chunk and pauses the request meanwhile. After a failure, reads and drops the rest, so that the
 * response reaches the sender.
 */
function readWhole(
  request: IncomingMessage,
  {
    write,
    isTooSlow,
    maxMs,
  }: { write: (chunk: Buffer) => Promise<void>; isTooSlow: (ms: number) => boolean; maxMs: number },
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const started = performance.now()
  let written = Promise.resolve()
  const onData = (chunk: Buffer) => {
    request.pause()
    written = write(chunk)
    written.then(() => request.resume(), reject)
  }
  // A paused request may end before its last chunk is written.
  const onEnd = () => written.then(resolve, reject)
  const onLost = () =>
    reject(claimRefused('body', 'The body did not arrive completely, or arrived too slowly.', Date.now()))
  const onClose = () => {
    if (!request.readableEnded) onLost()
  }
  const timer = setInterval(
    () => {
      const ms = performance.now() - started
      if (ms > maxMs || isTooSlow(ms)) onLost()
    },
    Math.min(CHECK_MS, maxMs),
  )
  // The sender has already disconnected; no further event will follow.
  if (request.destroyed) onClose()
  request.on('data', onData).once('end', onEnd).once('close', onClose).once('error', onLost)
  return promise.finally(() => {
    clearInterval(timer)
    request.off('data', onData).off('end', onEnd).off('close', onClose)
    request.resume()
  })
}
