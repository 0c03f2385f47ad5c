import { flushCompileCache } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import { splitList } from '../../api/shared/process/config.ts'
import { readConformance } from '../engines/conformance.ts'
import type { Engine, EngineProof } from '../engines/engine.ts'
import { openWhenComplete } from '../engines/files/open-complete.ts'
import { findInstalled } from '../engines/installed.ts'
import { ENGINES as BUILT_IN, createEngines, type EngineFactory } from '../engines/registry.ts'
import { hashWeights } from '../engines/weights.ts'
import { createLastPhoto } from '../job/last-photo.ts'
import { preparePhoto } from '../job/prepare-photo.ts'
import { tryOn } from '../job/try-on.ts'
import { AGE_MODEL } from '../outputs/safety/age.ts'
import { EXPOSURE_MODEL } from '../outputs/safety/exposure.ts'
import { findDeviceFault } from './device-fault.ts'
import { openModels, readManifest } from './models.ts'
import type { Failure, FromProcess, ToProcess, TryOnRequest } from './protocol.ts'
import { runSelfTest, warmUp } from './self-test.ts'
import { PROVIDERS } from './session.ts'

// The inference process: a child of the worker. It opens the models, runs the self-tests, and processes one request at a time.

const SAFETY_MODELS: readonly string[] = [EXPOSURE_MODEL, AGE_MODEL]

// Exit with the worker.
process.on('disconnect', () => process.exit(0))

const { models, engines, manifests, proofs } = await prepare().catch(exitUnready)
const aborts = new Map<number, AbortController>()
const lastPhoto = createLastPhoto()
/** Work that waits for a worker follows its start at once: it must not wait for a run that warms up. */
const IDLE_MS = 1000
const WARM_MS = 30_000
const firstWork = new AbortController()
let warmed: Promise<void> = Promise.resolve()

function send(message: FromProcess): void {
  process.send?.(message)
}

process.on('message', (message: ToProcess) => {
  if (message.type === 'abort') aborts.get(message.id)?.abort()
  else if (message.type === 'evict') evict(message.garmentHashes)
  else if (message.type === 'warm') warmed = warm()
  else run(message)
})

async function warm(): Promise<void> {
  const signal = AbortSignal.any([firstWork.signal, AbortSignal.timeout(IDLE_MS + WARM_MS)])
  try {
    await sleep(IDLE_MS, undefined, { signal })
    await warmUp({ models, engines, signal })
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

function evict(garmentHashes: readonly string[]): void {
  for (const { cache } of engines.values()) for (const hash of garmentHashes) cache?.evict(hash)
}

async function run({ id, work, request }: Extract<ToProcess, { type: 'run' }>): Promise<void> {
  const abort = new AbortController()
  aborts.set(id, abort)
  firstWork.abort()
  await warmed
  const context = { signal: abort.signal, onProgress: (share: number) => send({ type: 'progress', id, share }) }
  try {
    const result =
      work === 'prepare'
        ? await preparePhoto(request as never, { models })
        : await tryOn(request as never, { models, engines, lastPhoto, ...context })
    send({ type: 'done', id, result })
  } catch (error) {
    send({ type: 'failed', id, error: failureOf(error) })
  } finally {
    aborts.delete(id)
    // The caller has its response. V8 does not account for most pixel memory: the bitmaps of a large photo would otherwise stay until the
    // next one.
    if (work === 'prepare' || (request as TryOnRequest).options.fullResolution) globalThis.gc?.()
  }
}

function failureOf(error: unknown): Failure {
  const deviceFault = findDeviceFault(error)?.reason ?? null
  if (error instanceof DrapeError) {
    const { code, message, details, image, check, retryable } = error
    return { code, deviceFault, message, details, image, check, retryable }
  }
  const { message, stack } = error instanceof Error ? error : new Error(String(error))
  return { code: null, deviceFault, message, stack, retryable: true }
}

async function prepare() {
  const { ENGINES = '', ENGINE_DIR = '', MODEL_DIR = '', AGE_CHECK = '' } = process.env
  const { ACKNOWLEDGE_NON_COMMERCIAL = '', DOWNLOADED_ENGINES = '' } = process.env
  const provider = PROVIDERS.find((known) => known === process.env.EXECUTION_PROVIDER)
  if (!provider) throw new Error(`EXECUTION_PROVIDER must be one of ${PROVIDERS.join(', ')}`)
  const isAlone = process.env.CONCURRENCY === '1'
  const names = splitList(ENGINES)
  const downloaded = splitList(DOWNLOADED_ENGINES).filter((name) => names.includes(name))
  const entries = await readManifest(MODEL_DIR)
  const others = entries.map(({ name }) => name).filter((name) => name !== AGE_MODEL)
  // Also if the manifest does not list it: a worker without the model would let every face pass.
  const opened = [...others, ...(AGE_CHECK === 'true' ? [AGE_MODEL] : [])]
  const models = await openModels(MODEL_DIR, { names: opened, provider, optional: [EXPOSURE_MODEL] })
  const acknowledged = splitList(ACKNOWLEDGE_NON_COMMERCIAL)
  const conformanceOf = readConformance(process.env)
  const known = new Map<string, EngineFactory>(BUILT_IN)
  const engines = new Map<string, Engine>()
  const proofs: Record<string, EngineProof> = {}
  const open = async (some: readonly string[]) => {
    for (const [name, factory] of await findInstalled(some, ENGINE_DIR)) known.set(name, factory)
    const opened = await createEngines(some, { models, provider, isAlone, acknowledged, conformanceOf, known })
    Object.assign(proofs, await runSelfTest({ models, engines: opened }))
    for (const [name, engine] of opened) engines.set(name, engine)
  }
  await open(names.filter((name) => !downloaded.includes(name)))
  await openWhenComplete(downloaded, {
    directory: ENGINE_DIR,
    open: (name) => open([name]),
    onProgress: (progress) => send({ type: 'waiting', ...progress }),
  })
  // The safety check changes no result, so its models are not a part of an engine's weights.
  const own = entries.filter(({ name }) => !SAFETY_MODELS.includes(name))
  const manifests = [...engines.values()].map(({ manifest }) => {
    const files = known.get(manifest.name)?.files ?? (manifest.accepts.needsPerson ? own : [])
    return files.length === 0 ? manifest : { ...manifest, weights: hashWeights(files) }
  })
  return { models, engines, manifests, proofs }
}

/** Reports the problem to the worker's readiness probe. */
async function exitUnready(error: unknown): Promise<never> {
  const problem = error instanceof Error ? error.message : String(error)
  await new Promise<void>((resolve) => {
    const deviceFault = findDeviceFault(error)?.reason ?? null
    if (process.send) process.send({ type: 'unready', problem, deviceFault } satisfies FromProcess, () => resolve())
    else resolve()
  })
  return process.exit(1)
}

send({ type: 'ready', engines: proofs, manifests })
// Node writes the cache on exit, but the worker ends this process with a signal.
flushCompileCache()
