import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EngineFile, FileSource } from './settings.ts'
import { findProblem } from './verify.ts'

const TRIES = 4
const FIRST_PAUSE_MS = 1000
/** Nothing at all for so long is a dead connection. */
const SILENT_MS = 60_000

/** Will be the same when it is tried again. */
class Refused extends Error {}

/**
 * Fetches the files that are not in the folder yet as they should be. A file appears under its name only when it is whole and has
 * the right SHA-256. What fails on the way is tried again; a wrong digest or a refusal is not.
 * @throws Error that names the file and what went wrong
 */
export async function bringFiles(
  files: readonly EngineFile[],
  { folder, source }: { folder: string; source: FileSource },
): Promise<void> {
  for (const file of files) {
    if ((await findProblem(file, folder)) === null) continue
    await repeat(file.path, () => bringFile(file, { folder, source }))
  }
}

async function repeat(path: string, once: () => Promise<void>): Promise<void> {
  for (let tried = 1; ; tried++) {
    try {
      return await once()
    } catch (error) {
      const message = `${path} could not be fetched: ${reasonOf(error)}`
      if (error instanceof Refused || tried === TRIES) throw new Error(message, { cause: error })
      console.error(`${message}; trying again`)
      await sleep(FIRST_PAUSE_MS * 2 ** (tried - 1))
    }
  }
}

async function bringFile(file: EngineFile, { folder, source }: { folder: string; source: FileSource }): Promise<void> {
  const target = join(folder, file.path)
  const partial = `${target}.part`
  await mkdir(dirname(target), { recursive: true })
  const silence = new AbortController()
  const timer = setTimeout(() => silence.abort(new Error('nothing came for a minute')), SILENT_MS)
  try {
    const body = await open(file, source, silence.signal)
    const digest = await store(body, { partial, bytes: file.bytes, onPiece: () => timer.refresh() })
    if (digest !== file.sha256) throw new Refused(`it has the SHA-256 ${digest}, expected ${file.sha256}`)
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
  const said = `the server answered ${answer.status}`
  throw answer.status >= 500 || answer.status === 429 ? new Error(said) : new Refused(said)
}

/** Writes what comes and returns its SHA-256. @throws Refused when there is more or less than `bytes` */
async function store(
  body: ReadableStream<Uint8Array>,
  { partial, bytes, onPiece }: { partial: string; bytes: number; onPiece: () => void },
): Promise<string> {
  const hash = createHash('sha256')
  let seen = 0
  const checked = async function* (pieces: AsyncIterable<Uint8Array>) {
    for await (const piece of pieces) {
      onPiece()
      seen += piece.length
      if (seen > bytes) throw new Refused(`it has more than ${bytes} bytes`)
      hash.update(piece)
      yield piece
    }
  }
  await pipeline(Readable.fromWeb(body as never), checked, createWriteStream(partial))
  // A connection that broke off looks the same as a short file.
  if (seen < bytes) throw new Error(`it ended after ${seen} of ${bytes} bytes`)
  return hash.digest('hex')
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message
}
