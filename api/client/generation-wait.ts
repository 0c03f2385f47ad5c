import { DrapeApiError, DrapeTimeoutError, type FieldProblem } from './api-error.ts'
import type { Connection } from './connection.ts'
import { readEvents } from './event-stream.ts'
import type { CallOptions } from './request.ts'
import { pause } from './retry.ts'
import type { Generation } from './schemas.ts'

export interface WaitOptions extends CallOptions {
  /** Called with the current generation, after each change, and with the final state. */
  readonly onProgress?: ((generation: Generation) => void) | undefined
  /**
   * Time limit in ms, after which `DrapeTimeoutError` is thrown. The generation continues until
   * `output.deadlineSeconds`.
   */
  readonly timeout?: number | undefined
  /** Polling interval in ms where events are unavailable. Default 2,000. */
  readonly pollInterval?: number | undefined
}

export type CompletedGeneration = Generation & { status: 'COMPLETED' }

/** The generation failed, and its credits were refunded. */
export class DrapeGenerationError extends Error {
  override readonly name = 'DrapeGenerationError'
  /** Error code to branch on; undefined when the service does not know the cause. */
  readonly code: string | undefined
  /** The images that caused the error, by their fields in the call, e.g. `person.image` or `products[0].images[1]`. */
  readonly details: readonly FieldProblem[]
  readonly generation: Generation

  constructor(generation: Generation) {
    super(generation.errorMessage ?? 'The generation failed.')
    this.code = generation.errorCode
    this.details = generation.errorDetails ?? []
    this.generation = generation
  }
}

/**
 * Waits until the generation has ended, by its events, or by polling every 2 s where events do not arrive. Throws
 * `DrapeGenerationError` when the generation failed, `DrapeTimeoutError`, the reason of the signal, or the error of a
 * request.
 */
export async function waitForGeneration(
  connection: Connection,
  id: string,
  { onProgress = () => {}, signal, timeout, pollInterval = 2_000 }: WaitOptions,
): Promise<CompletedGeneration> {
  const late = new AbortController()
  const timer = timeout === undefined ? undefined : setTimeout(() => late.abort(), timeout)
  const stop = signal ? AbortSignal.any([signal, late.signal]) : late.signal
  try {
    return await untilEnded(connection, id, { report: onceEach(onProgress), stop, pollInterval })
  } catch (error) {
    if (late.signal.aborted && !signal?.aborted)
      throw new DrapeTimeoutError(`${id} has not ended within ${timeout} ms.`)
    throw error
  } finally {
    clearTimeout(timer)
  }
}

interface Watching {
  readonly report: (generation: Generation) => void
  readonly stop: AbortSignal
  readonly pollInterval: number
}

async function untilEnded(
  connection: Connection,
  id: string,
  { report, stop, pollInterval }: Watching,
): Promise<CompletedGeneration> {
  let streaming = true
  for (;;) {
    if (streaming) {
      // A stream that delivered nothing will not deliver anything the next time.
      streaming = false
      for await (const generation of follow(connection, id, stop)) {
        streaming = true
        report(generation)
        if (hasEnded(generation)) return settle(generation)
      }
    }
    const generation = await connection.call<Generation>({ method: 'GET', path: ['generations', id], signal: stop })
    report(generation)
    if (hasEnded(generation)) return settle(generation)
    await pause(pollInterval, stop)
  }
}

function hasEnded({ status }: Generation): boolean {
  return status === 'COMPLETED' || status === 'FAILED'
}

function settle(generation: Generation): CompletedGeneration {
  if (generation.status === 'FAILED') throw new DrapeGenerationError(generation)
  return generation as CompletedGeneration
}

/** The service sends the first event immediately, and a heartbeat every 10 s. */
const FIRST_BYTES_MS = 8_000
const SILENCE_TIMEOUT_MS = 25_000

/** The generations in the events, until the stream ends or fails. */
async function* follow(connection: Connection, id: string, stop: AbortSignal): AsyncGenerator<Generation> {
  const silent = new AbortController()
  let alarm = setTimeout(() => silent.abort(), FIRST_BYTES_MS)
  const heard = () => {
    clearTimeout(alarm)
    alarm = setTimeout(() => silent.abort(), SILENCE_TIMEOUT_MS)
  }
  try {
    const signal = AbortSignal.any([stop, silent.signal])
    const headers = { accept: 'text/event-stream' }
    const { body } = await connection.open({ method: 'GET', path: ['generations', id, 'events'], headers, signal })
    if (body) for await (const data of readEvents(body, heard)) yield JSON.parse(data) as Generation
  } catch (error) {
    if (stop.aborted) throw stop.reason
    if (isRefusal(error)) throw error
  } finally {
    clearTimeout(alarm)
  }
}

/** Polling would be refused as well. */
function isRefusal(error: unknown): boolean {
  return error instanceof DrapeApiError && error.code !== 'UNEXPECTED_ANSWER' && [401, 403, 404].includes(error.status)
}

/** Skips states that were already reported. */
function onceEach(report: (generation: Generation) => void): (generation: Generation) => void {
  let reported = ''
  return (generation) => {
    const { status, progress, queuePosition, updatedAt } = generation
    const state = [status, progress, queuePosition, updatedAt].join(' ')
    if (state === reported) return
    reported = state
    report(generation)
  }
}
