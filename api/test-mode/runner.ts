import { setTimeout as sleep } from 'node:timers/promises'
import { readTestInput } from '../generations/test-inputs.ts'
import { ERRORS } from '../shared/contract/error-codes.ts'
import { TEST_ENGINE } from '../shared/contract/test-mode.ts'
import { changedKeyOf, resultKeyOf, seedsOf, type TryOnJob } from '../shared/generations/generation.ts'
import type { Generations } from '../shared/generations/generations.store.ts'
import { cropBitmap, decodeImage, encodeImage, type Rectangle } from '../shared/image/image.ts'
import { hashImage } from '../shared/image/image-hash.ts'
import { startOutboxConsumer } from '../shared/queue/outbox-consumer.ts'
import { contentTypeOf, type ObjectStorage } from '../shared/storage/object.ts'
import type { Objects } from '../shared/storage/objects.store.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { TestMode } from './test-mode.store.ts'

export interface TestModeRunner {
  /** Checks for work immediately. */
  wake(): void
  stop(): Promise<void>
}

export interface TestModeOptions {
  readonly testMode: TestMode
  readonly generations: Generations
  readonly objects: Objects
  readonly storage: ObjectStorage
  readonly log: Log
}

/** Limited, because decoding costs processor time of the API. */
const SLOTS = 2
const IDLE_MS = 1000
const HOUR_MS = 3_600_000
const BATCH_SIZE = 500
/** Slow enough for callers to see progress. */
const STEP_MS = 100
const ENGINE_INFO = { name: TEST_ENGINE, version: '1.0.0', license: 'Apache-2.0', kind: 'test' }

/**
 * Runs the try-ons of test keys in the API, without a worker: the result is the photo of the person. Any number of
 * runners may run concurrently; each claims different try-ons. The relay recovers the try-ons of a dead process like
 * those of a worker.
 */
export function startTestMode(options: TestModeOptions): TestModeRunner {
  const { testMode, log } = options
  const stopping = new AbortController()
  const consumer = startOutboxConsumer({
    name: 'test generation',
    log,
    concurrency: SLOTS,
    idleMs: IDLE_MS,
    failureMs: IDLE_MS,
    claim: async ({ limit }) => ({ items: await testMode.claim(limit) }),
    handle: ({ payload, waitedSeconds }) =>
      runTest(payload, waitedSeconds, options).catch((error) =>
        // The lease expires, and the try-on runs again.
        log.warn({ err: error, generationId: payload.generationId }, 'running a test generation failed'),
      ),
  })
  const deleteOld = async () => {
    while (!stopping.signal.aborted && (await testMode.deleteOld(BATCH_SIZE)) > 0);
  }
  const clean = () => deleteOld().catch((error) => log.warn({ err: error }, 'deleting test data failed'))
  let cleaning = clean()
  const timer = setInterval(() => {
    cleaning = cleaning.then(clean)
  }, HOUR_MS)
  return {
    wake: consumer.wake,
    stop: async () => {
      stopping.abort()
      clearInterval(timer)
      await Promise.all([consumer.stop(), cleaning])
    },
  }
}

async function runTest(job: TryOnJob, waitedSeconds: number, options: TestModeOptions): Promise<void> {
  const { generations, testMode } = options
  const { generationId: id, attempt } = job
  const { delaySeconds, code, isLate, warnings } = readTestInput(job.externalUserId)
  if (delaySeconds > waitedSeconds) return testMode.postpone(id, delaySeconds - waitedSeconds)
  if ((await generations.start({ id, attempt, worker: 'api' })) === null) return
  const fail = async () =>
    code !== null && generations.fail({ id, attempt, code, message: `${ERRORS[code].example.message} (Test mode.)` })
  if (code !== null && !isLate) return void (await fail())
  for (const progress of [0.3, 0.6, 0.9]) {
    await sleep(STEP_MS)
    if (!(await generations.renew({ id, attempt, progress }))) return
  }
  if (code !== null) return void (await fail())
  await complete(job, warnings, options)
}

async function complete(
  job: TryOnJob,
  warnings: readonly string[],
  { generations, objects, storage }: TestModeOptions,
): Promise<void> {
  const { generationId: id, attempt, person } = job
  const photo = await storage.get(person.objectKey)
  if (!photo) {
    await generations.fail({
      id,
      attempt,
      code: 'GENERATION_FAILED',
      message: 'The photo of the person has been deleted.',
    })
    return
  }
  const frame = await decodeImage(photo)
  const { format } = job.options
  const cropped = person.cropMode === 'none' ? frame : cropBitmap(frame, person.crop ?? centreCropOf(frame))
  const image = await encodeImage(cropped, { format })
  const hash = (await hashImage(cropped))?.hash ?? null
  const { changedMask = false } = job.options
  const results = seedsOf(job.options).map((seed, index) => {
    const key = resultKeyOf({ ...job, format, index })
    return { seed, key, quality: null, ...(changedMask && { changedKey: changedKeyOf(key) }) }
  })
  const unchanged = {
    width: cropped.width,
    height: cropped.height,
    channels: 3,
    data: new Uint8Array(cropped.width * cropped.height * 3),
  } as const
  const mask = changedMask ? await encodeImage(unchanged, { format: 'png' }) : image
  const files = results.flatMap(({ key, changedKey }) => [
    { key, bytes: image, hash },
    ...(changedKey === undefined ? [] : [{ key: changedKey, bytes: mask, hash: null }]),
  ])
  for (const { key, bytes, hash } of files) {
    if (!(await objects.insertResult({ key, bytes: bytes.byteLength, hash, id, attempt }))) return
    await storage.put(key, bytes, { contentType: contentTypeOf(key) })
  }
  const outcome = {
    resultKey: results[0].key,
    ...((results.length > 1 || changedMask) && { results }),
    warnings,
    timings: {},
    engineInfo: ENGINE_INFO,
    category: null,
    layers: job.layers?.map(() => ({
      applied: true,
      warnings: [],
      quality: null,
      errorCode: null,
      errorMessage: null,
    })),
  }
  if (await generations.complete({ id, attempt, outcome })) return
  await storage.delete(files.map(({ key }) => key))
  for (const { key } of files) await objects.delete(key)
}

/** The largest centred 4:5 rectangle: no model detects the person. */
function centreCropOf({ width, height }: { width: number; height: number }): Rectangle {
  const [w, h] = width * 5 > height * 4 ? [Math.floor((height * 4) / 5), height] : [width, Math.floor((width * 5) / 4)]
  return { x: Math.floor((width - w) / 2), y: Math.floor((height - h) / 2), width: w, height: h }
}
