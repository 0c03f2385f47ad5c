import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { Static } from '../../api/shared/contract/schema.ts'
import {
  changedKeyOf,
  type EngineInfoSchema,
  type QueuedTryOn,
  resultKeyOf,
  type TryOnJob,
} from '../../api/shared/generations/generation.ts'
import type { WorkerOperations } from '../../api/shared/generations/worker-calls.ts'
import { failedFields } from '../../api/shared/image/image-field.ts'
import { hashImage } from '../../api/shared/image/image-hash.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import type { Log } from '../../api/shared/telemetry/log.ts'
import type { Metrics } from '../../api/shared/telemetry/metrics.ts'
import { describeSpan, withSpan } from '../../api/shared/telemetry/telemetry.ts'
import { DeviceFault } from '../inference/device-fault.ts'
import type { Inference } from '../inference/pool.ts'
import type { TryOnRequest, TryOnResult } from '../inference/protocol.ts'
import type { LoadLogo } from '../outputs/logo.ts'
import type { Signed, SignResult } from '../outputs/provenance/provenance.ts'
import { hashTryOn, screen } from '../outputs/safety/blocked-images.ts'
import type { AskList } from '../outputs/safety/list-client.ts'
import type { CachedGarments } from './cached-garments.ts'
import { type HandBack, HandedBack } from './hand-back.ts'
import { type DrawnLayers, drawLayers, type PlacedPass, type Under, withFields } from './layers.ts'
import { loadProductImage } from './product-image.ts'
import type { RecordDetections } from './record-detections.ts'
import { recordStages } from './stage-spans.ts'

export interface ConsumeOptions {
  readonly worker: string
  /** Finds the workers that currently accept try-ons for the engine. */
  readonly findWorkersWith: (engine: string) => Promise<readonly { readonly worker: string }[]>
  /** Whether this worker is fenced and must not start a job. */
  readonly isFenced: () => boolean
  /** Pauses the consumer briefly. */
  readonly pauseTaking: () => Promise<void>
  /** Aborts the job when the node of this worker ends before it. */
  readonly handBack: Pick<HandBack, 'signal'>
  /** The work in the database. */
  readonly calls: WorkerOperations
  readonly storage: ObjectStorage
  readonly inference: Inference
  readonly fetchImage: (url: string) => Promise<Uint8Array>
  readonly loadLogo: LoadLogo
  readonly signResult: SignResult
  /** Asks the operator's list about images; null without a list. */
  readonly askList: AskList | null
  /** SHA-256 of the model files of an engine; null for an engine without model files. */
  readonly findWeights: (engine: string) => string | null
  readonly recordDetections: RecordDetections
  readonly cachedGarments: CachedGarments
  readonly log: Log
  readonly metrics: Metrics
}

/** A fraction of the lease, so that one slow call does not lose the lease. */
const RENEW_MS = 2000
const RETRY_SECONDS = [1, 4]
const CALL = { kind: 'client', attributes: { 'peer.service': 'drape-api' } } as const

/**
 * Runs one attempt of a generation. Every outcome is written by exactly one conditional statement of the API: an attempt that is over
 * (cancelled, reclaimed, past its deadline) changes nothing and leaves no files.
 */
export async function consumeTryOn(queued: QueuedTryOn, options: ConsumeOptions): Promise<void> {
  const { calls, metrics } = options
  const attempt = { id: queued.generationId, attempt: queued.attempt }
  const log = options.log.child({ generationId: attempt.id, attempt: attempt.attempt })
  describeSpan({ 'drape.generation.id': attempt.id, 'drape.attempt': attempt.attempt })
  if (options.isFenced() || (await shouldYield(queued, options))) {
    await calls.handBack(attempt)
    // The queue serves its workers round robin, which could return the job to this worker every time.
    await options.pauseTaking()
    metrics.jobs.inc({ queue: 'try-on', outcome: 'handed back' })
    return
  }
  const start = await calls.start({ ...attempt, worker: options.worker })
  if (!start) {
    metrics.jobs.inc({ queue: 'try-on', outcome: 'over' })
    return
  }
  const { job } = start
  describeSpan({ 'drape.account.id': job.accountId, 'drape.engine': job.engine })
  if (start.isFirst) {
    const waited = Math.max(0, start.secondsWaited)
    metrics.starts.observe({ engine: job.engine, class: start.serviceClass, outcome: 'started' }, waited)
  }
  const handBack = options.handBack.signal()
  const lease = renewLease(attempt, { calls, secondsLeft: start.secondsLeft, handBack, log })
  try {
    const result = (await reuseResult(job, lease, options)) ?? (await runTryOn(job, lease, options))
    const outcome = await store(job, result, options)
    metrics.jobs.inc({ queue: 'try-on', outcome })
    log.info({ outcome, timings: result.timings }, 'try-on')
    for (const { pass, result: seen } of result.applied) await options.recordDetections({ ...job, ...pass }, seen)
  } catch (error) {
    await settle(error, { job, lease, options, log })
  } finally {
    lease.end()
  }
}

/** Whether this worker has failed with the job before and another worker has not. */
async function shouldYield(
  { failedOn, engine }: QueuedTryOn,
  { worker, findWorkersWith }: ConsumeOptions,
): Promise<boolean> {
  if (!failedOn.includes(worker)) return false
  const live = await findWorkersWith(engine).catch(() => [])
  return live.some((other) => !failedOn.includes(other.worker))
}

/** The result of the earlier generation that the job names. Null if it was deleted meanwhile. */
async function reuseResult(
  { reuse, options: { format, seed } }: TryOnJob,
  lease: Lease,
  { storage }: ConsumeOptions,
): Promise<FinishedResult | null> {
  const image = reuse ? await lease.during(storage.get(reuse.key)) : null
  if (!reuse || !image) return null
  const { layers, ingredientSalt, ...seen } = reuse
  const hash = (await lease.during(hashImage(image)))?.hash ?? null
  return {
    ...seen,
    images: [{ image, hash, seed, quality: seen.quality, ...(ingredientSalt !== null && { ingredientSalt }) }],
    format,
    timings: {},
    ...(layers !== null && { layers }),
    applied: [],
    reused: true,
  }
}

async function runTryOn(job: TryOnJob, lease: Lease, options: ConsumeOptions): Promise<SignedResult> {
  const { person, logoKey, maskKey = null } = job
  const products = job.layers?.map(({ product }) => product) ?? [job.product]
  const loading = products.map((product, index) => loadProductImage({ ...job, product, index }, options))
  // Awaited by the passes.
  for (const image of loading) image.catch(() => {})
  const [photo, logo, mask] = await lease.during(
    Promise.all([
      options.storage.get(person.objectKey),
      logoKey === null ? null : options.loadLogo(logoKey),
      maskKey === null ? null : options.storage.get(maskKey),
    ]),
  )
  if (!photo)
    throw new DrapeError('GENERATION_FAILED', 'The photo of the person has been deleted.', { image: 'person' })
  if (maskKey !== null && !mask)
    throw new DrapeError('GENERATION_FAILED', 'The mask of the photo has been deleted.', { image: 'person' })
  const original: Under = { photo, crop: person.cropMode === 'none' ? 'none' : (person.crop ?? 'auto') }
  const finish: PassParts['finish'] = { logo: logoKey === null ? null : (logo ?? 'missing') }
  const attempt = { job, lease, options }
  const drawn = await drawLayers(job, original, async (pass) => {
    lease.report(pass.progress[0])
    let order: number | null = null
    try {
      const garment = await lease.during(loading[pass.index])
      order = garment.image.order
      return await inferSafely(requestOf(job, { pass, garment, mask, finish }), { ...attempt, original, pass })
    } catch (error) {
      throw withFields(error, pass.index, order)
    }
  })
  const garments = await Promise.all(drawn.applied.map(({ pass }) => loading[pass.index]))
  // Signing is last: any later change of the bytes invalidates the signature.
  const images: SignedImage[] = []
  for (const { image, hash, seed, quality, changed } of [drawn, ...(drawn.others ?? [])]) {
    const signed = await withSpan('sign', {}, () =>
      options.signResult({
        image,
        engine: drawn.engine,
        weights: options.findWeights(drawn.engine.name),
        person: photo,
        products: garments.map(({ bytes }) => bytes),
        ingredientSalt: images[0]?.ingredientSalt,
      }),
    )
    images.push({ ...signed, hash, seed, quality, changed })
  }
  return { ...drawn, images }
}

interface PassParts {
  readonly pass: PlacedPass
  readonly garment: Awaited<ReturnType<typeof loadProductImage>>
  /** Null: the whole photo may change. */
  readonly mask: Uint8Array | null
  /** What is drawn on the result of the job. */
  readonly finish: Pick<TryOnRequest, 'logo'>
}

function requestOf(
  { engine, options, minQuality, safety }: TryOnJob,
  { pass: { under, product, layer, isLast }, garment, mask, finish }: PassParts,
): TryOnRequest {
  const { classifications } = garment.image
  return {
    engine,
    ...under,
    ...(mask && { mask }),
    garment: garment.bytes,
    garmentHash: garment.hash,
    ...(isLast ? finish : { logo: null }),
    product: {
      title: product.title,
      description: product.description,
      // The layer of an outfit decides what the engine takes the product for.
      classifications: layer === null ? classifications : { ...classifications, category: layer },
    },
    options: isLast ? options : { ...options, format: 'png' },
    minQuality,
    safety,
  }
}

interface Attempt {
  readonly job: TryOnJob
  readonly lease: Lease
  readonly options: ConsumeOptions
}

interface PassAttempt extends Attempt {
  readonly pass: PlacedPass
  /** The photo of the caller, whose hashes decide in every pass. */
  readonly original: Under
}

/** Runs the inference within the safety policy of the job. Records the check that refuses the job, for an appeal. */
async function inferSafely(request: TryOnRequest, attempt: PassAttempt): Promise<TryOnResult> {
  const { job, lease, options, original } = attempt
  const { safety, generationId: id } = job
  if (safety === null) return infer(request, attempt)
  const { photo, crop } = original
  const { garment } = request
  const pair = await lease.during(hashTryOn({ photo, garment, crop: typeof crop === 'string' ? null : crop }))
  const { askList, calls, log } = options
  const { allowances, blocked } = await lease.during(calls.examinePair({ id, accountId: job.accountId, pair }))
  try {
    const screening = { policy: safety, allowances, blocked, askList, log }
    const doubts = await lease.during(screen(pair, screening))
    const inferred = await infer({ ...request, allowances }, attempt)
    return { ...inferred, warnings: [...new Set([...doubts, ...inferred.warnings])] }
  } catch (error) {
    const isAppealable = pair.person.length > 0 && pair.product.length > 0
    if (isAppealable && error instanceof DrapeError && error.check !== undefined)
      await calls.insertRefusal({ id, attempt: job.attempt, check: error.check, image: error.image ?? null, pair })
    throw error
  }
}

function infer(request: TryOnRequest, { job, lease, options, pass }: PassAttempt): Promise<TryOnResult> {
  const noteKept = () => options.cachedGarments.note(pass.product, request.garmentHash)
  const [start, end] = pass.progress
  const onProgress = (share: number) => lease.report(start + (end - start) * share)
  noteKept()
  return withSpan('infer', {}, async () => {
    const running = options.inference
      .run('try-on', request, { signal: lease.signal, onProgress, subject: job.generationId, count: job.options.count })
      .finally(noteKept)
    const inferred = await lease.untilHandedBack(running)
    recordStages(inferred.timings, Date.now())
    for (const [stage, ms] of Object.entries(inferred.timings)) {
      options.metrics.stage.observe({ engine: job.engine, stage }, ms / 1000)
    }
    return inferred
  })
}

type SignedImage = Pick<Signed, 'image'> & Partial<Signed> & Pick<TryOnResult, 'hash' | 'seed' | 'quality' | 'changed'>

interface SignedResult extends DrawnLayers {
  /** Best first. */
  readonly images: readonly SignedImage[]
}

/** What is stored of a result, of this job or of an earlier one. */
interface FinishedResult
  extends Pick<
    SignedResult,
    'images' | 'refused' | 'format' | 'warnings' | 'timings' | 'category' | 'quality' | 'layers' | 'applied'
  > {
  readonly engine: Static<typeof EngineInfoSchema>
  readonly reused?: true
}

async function store(job: TryOnJob, result: FinishedResult, options: ConsumeOptions): Promise<'completed' | 'late'> {
  const { calls, storage } = options
  const { images, refused = [], format, warnings, timings, category, engine: engineInfo, layers, reused } = result
  const about = { id: job.generationId, attempt: job.attempt, accountId: job.accountId, format }
  const keys: string[] = []
  const discard = async () => {
    // The records expire within an hour.
    if (keys.length > 0) await storage.delete(keys)
    return 'late' as const
  }
  for (const [index, { image, hash, changed }] of images.entries()) {
    if (!(await calls.insertResult({ ...about, index, bytes: image.byteLength, hash }))) return discard()
    const key = resultKeyOf({ ...job, format, index })
    keys.push(key)
    await storage.put(key, image, { contentType: `image/${format}` })
    if (changed === undefined) continue
    const { byteLength: bytes } = changed
    if (!(await calls.insertResult({ ...about, index, isMask: true, bytes, hash: null }))) return discard()
    keys.push(changedKeyOf(key))
    await storage.put(changedKeyOf(key), changed, { contentType: 'image/png' })
  }
  const stored = images.map(({ seed, quality, changed }, index) => ({
    ...{ seed, quality: asReal(quality), index },
    ...(changed && { isMasked: true }),
  }))
  const results = [...stored, ...refused]
  const [{ ingredientSalt }] = images
  const outcome = {
    ...{ warnings, timings, category, quality: asReal(result.quality), engineInfo, ingredientSalt, reused },
    ...(layers && { layers }),
    ...((results.length > 1 || job.options.changedMask) && { results }),
  }
  const completed = await withSpan('complete generation', CALL, () => calls.complete({ ...about, outcome }))
  return completed ? 'completed' : discard()
}

/** With as many digits as the column of the first result has, which is also in the list of all. */
function asReal(quality: number | null): number | null {
  return quality === null ? null : Number(quality.toPrecision(6))
}

interface Settlement {
  readonly job: TryOnJob
  readonly lease: Lease
  readonly options: ConsumeOptions
  readonly log: Log
}

// LOSING AN EXCEPTION HERE LOSES NO JOB: the lease expires and the relay reclaims the attempt.
async function settle(error: unknown, { job, lease, options, log }: Settlement): Promise<void> {
  const { calls, metrics, worker } = options
  const { generationId: id, attempt } = job
  if (lease.isLost()) {
    metrics.jobs.inc({ queue: 'try-on', outcome: 'late' })
    return
  }
  if (error instanceof DrapeError && !error.retryable) {
    const details = failedFields(error)
    log.info(
      { code: error.code, ...(details.length > 0 && { fields: details.map(({ path }) => path) }) },
      'try-on failed',
    )
    describeSpan({ 'error.type': error.code })
    await withSpan('fail generation', CALL, () =>
      calls.fail({ id, attempt, code: error.code, message: error.message, details }),
    )
    metrics.jobs.inc({ queue: 'try-on', outcome: 'failed' })
    return
  }
  const reason = findDeviceFault(error)
  if (reason !== null && (await calls.spare({ id, attempt, worker }))) {
    log.warn({ reason }, 'try-on returned to the queue')
    metrics.jobs.inc({ queue: 'try-on', outcome: 'handed back' })
    return
  }
  log.error({ err: error }, 'try-on will be retried')
  await withSpan('retry generation', CALL, () =>
    calls.retry({ id, attempt, delaySeconds: RETRY_SECONDS[attempt - 1] ?? 0, ...finalFailure(error) }),
  )
  metrics.jobs.inc({ queue: 'try-on', outcome: 'retry' })
}

/** The failure after the last attempt, for an error that callers know by its own code. */
function finalFailure(error: unknown) {
  const isKnown = error instanceof DrapeError && error.code === 'SAFETY_UNAVAILABLE'
  return isKnown ? { failure: { code: error.code, message: error.message } } : {}
}

/** Why the device or the node, and not the job, caused the error; null if the job may be the cause. */
function findDeviceFault(error: unknown): string | null {
  if (error instanceof DeviceFault) return error.reason
  return error instanceof HandedBack ? 'NodeEnds' : null
}

interface Lease {
  readonly signal: AbortSignal
  readonly report: (share: number) => void
  /** Resolves with the work's result; rejects immediately when the lease is lost. */
  during<T>(work: Promise<T>): Promise<T>
  /**
   * Like `during`, but after the loss of the lease waits for the inference process, which has no room for another job until it stops.
   * A node that ends cannot wait.
   */
  untilHandedBack<T>(work: Promise<T>): Promise<T>
  isLost(): boolean
  end(): void
}

/** Renews the lease of the attempt. Aborts the signal when the lease is lost, the deadline has passed, or the job is handed back. */
function renewLease(
  attempt: { id: string; attempt: number },
  {
    calls,
    secondsLeft,
    handBack,
    log,
  }: { calls: Pick<WorkerOperations, 'renew'>; secondsLeft: number; handBack: AbortSignal; log: Log },
): Lease {
  const abort = new AbortController()
  let progress = 0
  let lost = false
  const { promise: over, reject } = Promise.withResolvers<never>()
  over.catch(() => {})
  const stop = (reason: Error) => {
    abort.abort(reason)
    reject(reason)
  }
  const lose = (reason: string) => {
    lost = true
    clearInterval(renewal)
    stop(new Error(reason))
  }
  const handedBack = Promise.withResolvers<never>()
  handedBack.promise.catch(() => {})
  const returnJob = () => {
    handedBack.reject(handBack.reason)
    stop(handBack.reason)
  }
  handBack.addEventListener('abort', returnJob, { once: true })
  const renewal = setInterval(async () => {
    try {
      if (!(await calls.renew({ ...attempt, progress }))) lose('the attempt is over')
    } catch (error) {
      log.warn({ err: error }, 'lease renewal failed')
    }
  }, RENEW_MS)
  // The relay fails the job after its deadline; the worker only has to stop.
  const deadline = setTimeout(() => lose('the deadline has passed'), secondsLeft * 1000)
  return {
    signal: abort.signal,
    report: (share) => {
      progress = share
    },
    during: (work) => Promise.race([work, over]),
    untilHandedBack: (work) => Promise.race([work, handedBack.promise]),
    isLost: () => lost,
    end: () => {
      clearInterval(renewal)
      clearTimeout(deadline)
      handBack.removeEventListener('abort', returnJob)
    },
  }
}
