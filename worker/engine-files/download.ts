import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
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

/**
 * Downloads the files that are missing from the folder or differ from their SHA-256. A file appears under its name only after its
 * download is complete and verified. Retries network errors and downloads without progress; does not retry a wrong digest or a
 * rejected request.
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
  const stall = new AbortController()
  const slow = new Error(`less than ${pace.bytes} bytes arrived within ${pace.ms / 1000} seconds`)
  const timer = setTimeout(() => stall.abort(slow), pace.ms)
  try {
    const body = await open(file, source, stall.signal)
    timer.refresh()
    const progress = { step: pace.bytes, onStep: () => timer.refresh() }
    const digest = await store(body, { partial, bytes: file.bytes, progress })
    if (digest !== file.sha256) throw new PermanentError(`it has the SHA-256 ${digest}, expected ${file.sha256}`)
    await rename(partial, target)
  } finally {
    clearTimeout(timer)
    await rm(partial, { force: true })
  }
}

async function open({ path }: EngineFile, { url, authorization }: FileSource, signal: AbortSignal) {
  const address = `${url.replace(/\/$/, '')}/${path.split('/').map(encodeURIComponent).join('/')}`
  const answer = await fetch(address, { headers: authorization ? { authorization } : {}, signal })
  if (answer.ok && answer.body) return answer.body
  await answer.body?.cancel()
  const problem = `the server answered ${answer.status}`
  throw answer.status >= 500 || answer.status === 429 ? new Error(problem) : new PermanentError(problem)
}

/** Writes the response body and returns its SHA-256. @throws PermanentError if the body has more or fewer than `bytes` bytes */
async function store(
  body: ReadableStream<Uint8Array>,
  { partial, bytes, progress }: { partial: string; bytes: number; progress: { step: number; onStep: () => void } },
): Promise<string> {
  const hash = createHash('sha256')
  let seen = 0
  const checked = async function* (pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      const step = Math.floor(seen / progress.step)
      seen += piece.length
      if (Math.floor(seen / progress.step) > step) progress.onStep()
      if (seen > bytes) throw new PermanentError(`it has more than ${bytes} bytes`)
      hash.update(piece)
      yield piece
    }
  }
  await pipeline(Readable.fromWeb(body as never), checked, createWriteStream(partial, { flush: true }))
  // A broken connection looks the same as a short file.
  if (seen < bytes) throw new Error(`it ended after ${seen} of ${bytes} bytes`)
  return hash.digest('hex')
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
