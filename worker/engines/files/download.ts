import { createHash, type Hash } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineFile, FileSource } from './settings.ts'
import { findProblem } from './verify.ts'

const MAX_ATTEMPTS = 4
const FIRST_BACKOFF_MS = 1000
/** Min progress of a download: `bytes` more within each `ms`. A slower connection is dead, or would keep a worker waiting for days. */
const MIN_PACE: Pace = { bytes: 2 ** 20, ms: 60_000 }

interface Pace {
  readonly bytes: number
  readonly ms: number
}

interface Download {
  readonly folder: string
  readonly source: FileSource
  readonly pace?: Pace
}

/** An error that a retry cannot fix. */
class PermanentError extends Error {}

/** The bytes that have arrived are not those of the file. */
class WrongContentError extends Error {}

/** The beginning of a file. */
interface Beginning {
  readonly hash: Hash
  readonly bytes: number
}

/**
 * Downloads the files that are missing from the folder or differ from their SHA-256. A file appears under its name only after its
 * download is complete and verified. Retries network errors and downloads without progress, from where they stopped if the server
 * allows it; does not retry a wrong digest or a rejected request.
 * @throws Error that names the file and the problem
 */
export async function downloadFiles(files: readonly EngineFile[], download: Download): Promise<void> {
  for (const file of files) {
    if ((await findProblem(file, download.folder)) === null) continue
    await retry(file.path, () => downloadFile(file, download))
  }
}

async function retry(path: string, once: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await once()
    } catch (error) {
      const message = `${path} could not be fetched: ${reasonOf(error)}`
      if (error instanceof PermanentError || tried === MAX_ATTEMPTS) throw new Error(message, { cause: error })
      console.error(`${message}; trying again`)
      await sleep(FIRST_BACKOFF_MS * 2 ** (tried - 1))
    }
  }
}

async function downloadFile(file: EngineFile, { folder, source, pace = MIN_PACE }: Download): Promise<void> {
  const target = join(folder, file.path)
  const partial = `${target}.part`
  await mkdir(dirname(target), { recursive: true })
  const kept = await readBeginning(partial)
  const stall = new AbortController()
  const slow = new Error(`less than ${pace.bytes} bytes arrived within ${pace.ms / 1000} seconds`)
  const timer = setTimeout(() => stall.abort(slow), pace.ms)
  try {
    const { body, isRest } = await open(file, source, { from: kept.bytes, signal: stall.signal })
    timer.refresh()
    const progress = { step: pace.bytes, onStep: () => timer.refresh() }
    await store(body, { file, partial, after: isRest ? kept : startOver(), progress })
    await rename(partial, target)
  } catch (error) {
    if (!(error instanceof WrongContentError)) throw error
    await rm(partial, { force: true })
    // The beginning may be damaged, or of another version: the next attempt starts over.
    throw kept.bytes > 0 ? error : new PermanentError(error.message)
  } finally {
    clearTimeout(timer)
  }
}

function startOver(): Beginning {
  return { hash: createHash('sha256'), bytes: 0 }
}

/** What an earlier attempt has left, also that of an earlier process. */
async function readBeginning(path: string): Promise<Beginning> {
  const { hash } = startOver()
  let bytes = 0
  try {
    for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 })) {
      hash.update(piece)
      bytes += piece.length
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return { hash, bytes }
}

/** Requests a file, or its rest; the server may send the whole file nevertheless. */
async function open(
  { path, bytes }: EngineFile,
  { url, authorization }: FileSource,
  { from, signal }: { from: number; signal: AbortSignal },
) {
  const address = `${url.replace(/\/$/, '')}/${path.split('/').map(encodeURIComponent).join('/')}`
  const range = from > 0 && from < bytes && { range: `bytes=${from}-` }
  const answer = await fetch(address, { headers: { ...(authorization && { authorization }), ...range }, signal })
  if (answer.ok && answer.body) return { body: answer.body, isRest: answer.status === 206 }
  await answer.body?.cancel()
  const problem = `the server answered ${answer.status}`
  throw answer.status >= 500 || answer.status === 429 ? new Error(problem) : new PermanentError(problem)
}

/** Writes the response body after what is there, and verifies the file. */
async function store(
  body: ReadableStream<Uint8Array>,
  {
    file: { bytes, sha256 },
    partial,
    after,
    progress,
  }: { file: EngineFile; partial: string; after: Beginning; progress: { step: number; onStep: () => void } },
): Promise<void> {
  const { hash } = after
  let seen = after.bytes
  const checked = async function* (pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      const step = Math.floor(seen / progress.step)
      seen += piece.length
      if (Math.floor(seen / progress.step) > step) progress.onStep()
      if (seen > bytes) throw new WrongContentError(`it has more than ${bytes} bytes`)
      hash.update(piece)
      yield piece
    }
  }
  const flags = after.bytes > 0 ? 'a' : 'w'
  await pipeline(Readable.fromWeb(body as never), checked, createWriteStream(partial, { flags, flush: true }))
  // A broken connection looks the same as a short file.
  if (seen < bytes) throw new Error(`it ended after ${seen} of ${bytes} bytes`)
  const digest = hash.digest('hex')
  if (digest !== sha256) throw new WrongContentError(`it has the SHA-256 ${digest}, expected ${sha256}`)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
