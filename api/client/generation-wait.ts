import { DrapeApiError, DrapeTimeoutError, type FieldProblem } from './api-error.ts'
import type { CallOptions, Connection } from './connection.ts'
import { readEvents } from './event-stream.ts'
import { pause } from './retry.ts'
import type { Generation } from './schemas.ts'

export interface WaitOptions extends CallOptions {
  /** Called with the generation as it stands, and after each change; the last time with its end. */
  readonly onProgress?: ((generation: Generation) => void) | undefined
  /** Ms after which `DrapeTimeoutError` is thrown. The generation goes on; its own end comes by `output.deadlineSeconds`. */
  readonly timeout?: number | undefined
  /** Ms between two looks where events cannot be followed: 2,000. */
  readonly pollInterval?: number | undefined
}

export type CompletedGeneration = Generation & { status: 'COMPLETED' }

/** The generation failed, and its credit came back. */
export class DrapeGenerationError extends Error {
  override readonly name = 'DrapeGenerationError'
  /** What to branch on; undefined when the service knows no more than that it failed. */
  readonly code: string | undefined
  /** The images at fault by their fields in the call, such as `person.image` or `products[0].images[1]`. */
  readonly details: readonly FieldProblem[]
  readonly generation: Generation

  constructor(generation: Generation) {
    super(generation.errorMessage ?? 'The generation failed.')
    this.code = generation.errorCode
    this.details = generation.errorDetails ?? []
    this.generation = generation
  }
}

/** The path of a generation. */
export function generationPath(id: string, rest = ''): string {
  return `/tryon/v1/generations/${encodeURIComponent(id)}${rest}`
}

/**
 * Waits until the generation has ended, by its events; where those do not come through, by looking every 2 s. Throws
 * `DrapeGenerationError` when it failed, `DrapeTimeoutError`, the reason of the signal, or what asking for it throws.
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
    if (late.signal.aborted && !signal?.aborted) throw new DrapeTimeoutError(`${id} has not ended in ${timeout} ms.`)
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
      // A stream that brings nothing will not bring more the next time.
      streaming = false
      for await (const generation of follow(connection, id, stop)) {
        streaming = true
        report(generation)
        if (hasEnded(generation)) return settle(generation)
      }
    }
    const generation = await connection.call<Generation>({ method: 'GET', path: generationPath(id), signal: stop })
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

/** The service sends the first event at once, and a sign of life every 10 s. */
const FIRST_BYTES_MS = 8_000
const SILENCE_MS = 25_000

/** The generations of the events, until the events end or break. */
async function* follow(connection: Connection, id: string, stop: AbortSignal): AsyncGenerator<Generation> {
  const silent = new AbortController()
  let alarm = setTimeout(() => silent.abort(), FIRST_BYTES_MS)
  const heard = () => {
    clearTimeout(alarm)
    alarm = setTimeout(() => silent.abort(), SILENCE_MS)
  }
  try {
    const signal = AbortSignal.any([stop, silent.signal])
    const headers = { accept: 'text/event-stream' }
    const { body } = await connection.open({ method: 'GET', path: generationPath(id, '/events'), headers, signal })
    if (body) for await (const data of readEvents(body, heard)) yield JSON.parse(data) as Generation
  } catch (error) {
    if (stop.aborted) throw stop.reason
    if (isRefusal(error)) throw error
  } finally {
    clearTimeout(alarm)
  }
}

/** Asking again, another way, would be refused as well. */
function isRefusal(error: unknown): boolean {
  return error instanceof DrapeApiError && error.code !== 'UNEXPECTED_ANSWER' && [401, 403, 404].includes(error.status)
}

/** Leaves out what was reported before. */
function onceEach(report: (generation: Generation) => void): (generation: Generation) => void {
  let reported = ''
  return (generation) => {
    const { status, progress, queuePosition, updatedAt } = generation
    const state = JSON.stringify([status, progress, queuePosition, updatedAt])
    if (state === reported) return
    reported = state
    report(generation)
  }
}
