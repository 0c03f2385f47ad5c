import { createHash } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { acceptGeneration } from '../../../api/generations/acceptance.store.ts'
import { createWorkerOperations } from '../../../api/generations/worker-operations.ts'
import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { Nullable, Type } from '../../../api/shared/contract/schema.ts'
import { Json, rowType, sql } from '../../../api/shared/database/database.ts'
import {
  MAX_DEVICE_FAILURES,
  resultKeyOf,
  type TryOnJob,
  TryOnJobSchema,
} from '../../../api/shared/generations/generation.ts'
import { createGenerations } from '../../../api/shared/generations/generations.store.ts'
import type { WorkerOperations } from '../../../api/shared/generations/worker-calls.ts'
import { keyOfFetched } from '../../../api/shared/image/fetched-product-image.ts'
import { encodeImage } from '../../../api/shared/image/image.ts'
import { nameIngredient } from '../../../api/shared/provenance/ingredient.ts'
import { verifyProvenance } from '../../../api/shared/provenance/verify.ts'
import { createStorage, type ObjectStorage } from '../../../api/shared/storage/storage.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { createMetrics, type Metrics } from '../../../api/shared/telemetry/metrics.ts'
import { createSafetyReviews, type ReviewDecision } from '../../../api/trust/appeals/safety-reviews.store.ts'
import { DeviceFault } from '../../../worker/inference/device-fault.ts'
import type { Inference } from '../../../worker/inference/pool.ts'
import type { TryOnRequest, TryOnResult } from '../../../worker/inference/protocol.ts'
import { createHandBack } from '../../../worker/job/hand-back.ts'
import { type ConsumeOptions, consumeTryOn } from '../../../worker/job/run-job.ts'
import { createSignResult } from '../../../worker/outputs/provenance/provenance.ts'
import { readSigningKey } from '../../../worker/outputs/provenance/signing-key.ts'
import { type Caller, callOf, createCaller } from '../../support/accepted.ts'
import { readSample } from '../../support/drape.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const SIGN = await createSignResult(await readSigningKey({ key: '', certificates: '' }))
const WEIGHTS = 'ab'.repeat(32)
const LOG = createLog({ process: 'test', level: 'silent' })
const Payload = rowType(Type.Object({ payload: TryOnJobSchema }))
const State = rowType(
  Type.Object({
    status: Type.String(),
    attempt: Type.Integer(),
    balance: Type.Integer(),
    /** Seconds until the relay may queue the next attempt; null while it is queued or when it has ended. */
    due: Nullable(Type.Integer()),
    failedOn: Json,
  }),
)
const StoredObject = rowType(Type.Object({ key: Type.String(), isKept: Type.Boolean() }))
const RESULT: TryOnResult = {
  image: await encodeImage({ width: 16, height: 16, channels: 3, data: new Uint8Array(768) }, { format: 'jpeg' }),
  hash: null,
  format: 'jpeg',
  warnings: ['CATEGORY_ASSUMED'],
  timings: { decode: 12, warp: 300 },
  category: 'tops',
  seed: 42,
  quality: 0.9,
  detected: null,
  found: null,
  engine: { name: 'warp', version: '1.0.0', license: 'Apache-2.0', kind: 'preview' },
}

type Infer = (
  request: TryOnRequest,
  run: { signal: AbortSignal; onProgress: (share: number) => void },
) => Promise<TryOnResult>

// Real database and storage; each test replaces the inference by a function, to test every outcome.
describe('a try-on job', async () => {
  const { database } = await openTestDatabase({ poolSize: 5 })
  let caller: Caller
  let metrics: Metrics
  let rests: number
  let infer: Infer
  let requests: TryOnRequest[]
  let noted: string[]

  const folder = await mkdtemp(join(tmpdir(), 'drape-consume-'))
  const storage = await createStorage(`file:${folder}`, { publicUrl: 'http://localhost', signingSecret: 'secret' })
  const generations = createGenerations(database)
  const calls = createWorkerOperations(database, generations)
  afterAll(async () => {
    await rm(folder, { recursive: true })
  })
  beforeEach(async () => {
    caller = await createCaller(database, 10)
    metrics = createMetrics('worker')
    rests = 0
    requests = []
    noted = []
    infer = async () => RESULT
  })
  afterEach(() => vi.useRealTimers())

  const optionsOf = (changes: Partial<ConsumeOptions> = {}): ConsumeOptions => ({
    worker: 'this',
    findWorkersWith: async () => [{ worker: 'this' }],
    isFenced: () => false,
    handBack: createHandBack(),
    pauseTaking: async () => void rests++,
    calls,
    storage,
    inference: {
      run: (_, request, run) => {
        requests.push(request as TryOnRequest)
        return infer(request as TryOnRequest, run)
      },
    } as Inference,
    fetchImage: () => Promise.reject(new Error('the image is stored already')),
    loadLogo: async () => null,
    signResult: SIGN,
    askList: null,
    findWeights: (engine) => (engine === 'warp' ? WEIGHTS : null),
    recordDetections: async () => {},
    cachedGarments: { note: (_, hash) => void noted.push(hash), sweep: async () => {} },
    log: LOG,
    metrics,
    ...changes,
  })
  /** Accepts a try-on and stores its photo; what the relay then puts into the queue. */
  const accept = async (changes: Parameters<typeof callOf>[1] = {}): Promise<TryOnJob> => {
    const { generationId } = callOf(caller)
    await acceptGeneration(database, { ...callOf(caller), generationId, ...changes })
    const job = await queue(generationId)
    await storage.put(job.person.objectKey, Buffer.from('photo'), { contentType: 'image/jpeg' })
    await storage.put(garmentKeyOf(job), Buffer.from('garment'), { contentType: 'application/octet-stream' })
    return job
  }
  /** The job after a change of its row. */
  const change = async ({ generationId }: TryOnJob, changes: Partial<TryOnJob>): Promise<TryOnJob> => {
    await database.query(sql.unsafe`
      update outbox set payload = payload || ${sql.jsonb(changes)} where generation_id = ${generationId}`)
    return queue(generationId)
  }
  const garmentKeyOf = ({ accountId, product: { id, imagesEdition, images } }: TryOnJob) =>
    keyOfFetched({ accountId, productId: id, edition: imagesEdition, url: images[0].sourceUrl })
  const queue = async (id: string) => {
    await database.query(sql.unsafe`update outbox set dispatched_at = now() where generation_id = ${id}`)
    return (await database.one(sql.type(Payload)`select payload from outbox where generation_id = ${id}`)).payload
  }
  const stateOf = (id: string) =>
    database.one(sql.type(State)`
      select status, generations.attempt, balance,
        case when dispatched_at is null then round(extract(epoch from available_at - updated_at))::int end as due,
        outbox.payload->'failedOn' as "failedOn"
      from generations join accounts on accounts.id = account_id left join outbox on generation_id = generations.id
      where generations.id = ${id}`)
  const outcomes = async () => {
    const { values } = await metrics.jobs.get()
    return values.map(({ labels, value }) => [labels.queue, labels.outcome, value])
  }

  it('completes with result, warnings and timings, and stays charged', async () => {
    const job = await accept()
    const remembered: unknown[] = []
    await consumeTryOn(job, optionsOf({ recordDetections: async (...all) => void remembered.push(all) }))
    const key = resultKeyOf({ ...job, format: 'jpeg' })
    expect(await generations.find(job.generationId)).toMatchObject({
      status: 'COMPLETED',
      resultKey: key,
      warnings: ['CATEGORY_ASSUMED'],
      timings: RESULT.timings,
      engineInfo: RESULT.engine,
      category: 'tops',
      quality: 0.9,
    })
    expect(await stateOf(job.generationId)).toMatchObject({ balance: 9, due: null })
    expect(remembered).toMatchObject([[job, { found: RESULT.found, detected: RESULT.detected }]])
    expect(await outcomes()).toEqual([['try-on', 'completed', 1]])
    const stages = (await metrics.stage.get()).values.filter(({ metricName }) => metricName?.endsWith('_sum'))
    expect(stages.map(({ labels, value }) => [labels.engine, labels.stage, value])).toEqual([
      ['warp', 'decode', 0.012],
      ['warp', 'warp', 0.3],
    ])
  })

  it('copies the result of an earlier job instead of a run, unless that was deleted', async () => {
    const reuse = { credits: 0, version: RESULT.engine.version }
    const first = await accept({ reuse })
    await consumeTryOn(first, optionsOf())
    const made = await generations.find(first.generationId)
    const again = await accept({ reuse })
    await consumeTryOn(again, optionsOf())
    expect(requests).toHaveLength(1)
    const copy = await generations.find(again.generationId)
    expect(copy).toMatchObject({
      ...{ status: 'COMPLETED', resultKey: resultKeyOf({ ...again, format: 'jpeg' }), reused: true, timings: {} },
      ...{ warnings: made?.warnings, category: 'tops', quality: 0.9, engineInfo: RESULT.engine },
      ingredientSalt: made?.ingredientSalt,
    })
    const [bytes, madeBytes] = await Promise.all([copy, made].map((each) => storage.get(each?.resultKey ?? '')))
    expect(bytes?.equals(madeBytes ?? Buffer.alloc(0))).toBe(true)
    expect(await stateOf(again.generationId)).toMatchObject({ balance: 9 })

    const late = await accept({ reuse })
    await storage.delete([copy?.resultKey ?? ''])
    await consumeTryOn(late, optionsOf())
    expect(requests).toHaveLength(2)
    expect(await generations.find(late.generationId)).toMatchObject({ status: 'COMPLETED', reused: false })
    expect(await stateOf(late.generationId)).toMatchObject({ balance: 9 })
  })

  it('stores the result with Content Credentials that verify photo and product by salt', async () => {
    const job = await accept({ externalUserId: 'shopper-77' })
    await consumeTryOn(job, optionsOf())
    const { resultKey, ingredientSalt } = (await generations.find(job.generationId)) ?? {}
    const stored = await storage.get(resultKey ?? '')
    const { status, statement } = await verifyProvenance(stored ?? Buffer.alloc(0))
    expect(status).toBe('valid')
    expect(statement).toMatchObject({ engine: 'warp 1.0.0', weights: WEIGHTS, sourceType: 'composite' })
    expect(statement?.ingredients.map(({ name }) => name)).toEqual(
      ['photo', 'garment'].map((text) => nameIngredient(Buffer.from(text), ingredientSalt ?? '')),
    )
    const text = Buffer.from(stored ?? '').toString('latin1')
    for (const id of [job.generationId, job.accountId, 'shopper-77', job.person.imageId]) expect(text).not.toContain(id)
  })

  const ofSeed = (text: string, seed: number, quality: number) => ({
    ...RESULT,
    image: Buffer.from(text),
    seed,
    quality,
  })
  const severalOf = (...all: readonly ReturnType<typeof ofSeed>[]): TryOnResult => ({ ...all[0], others: all.slice(1) })
  /** Without signature: the images of the tests are texts. */
  const unsigned: ConsumeOptions['signResult'] = async ({ image, ingredientSalt = 'salt' }) => ({
    image,
    ingredientSalt,
  })
  const objectsOf = (id: string) =>
    database.any(sql.type(StoredObject)`
      select key, expires_at = images_expire_at as "isKept" from objects join generations on generations.id = generation_id
      where generation_id = ${id}`)

  it('stores several results with one salt, and refunds those that failed', async () => {
    const job = await accept({ options: { ...callOf(caller).options, seed: 5, count: 3 }, cost: 6 })
    const refused = [{ seed: 7, errorCode: 'RESULT_REJECTED' as const, errorMessage: 'The result is flat' }]
    infer = async () => ({ ...severalOf(ofSeed('better', 6, 0.8), ofSeed('worse', 5, 0.4)), refused })
    await consumeTryOn(job, optionsOf({ signResult: unsigned }))
    const { resultKey, results, quality, ingredientSalt } = (await generations.find(job.generationId)) ?? {}
    const keys = [0, 1].map((index) => resultKeyOf({ ...job, format: 'jpeg', index }))
    expect({ resultKey, quality, ingredientSalt }).toEqual({ resultKey: keys[0], quality: 0.8, ingredientSalt: 'salt' })
    expect(results).toEqual([
      { seed: 6, quality: 0.8, key: keys[0] },
      { seed: 5, quality: 0.4, key: keys[1] },
      ...refused,
    ])
    expect(await Promise.all(keys.map(async (key) => (await storage.get(key))?.toString()))).toEqual([
      'better',
      'worse',
    ])
    const stored = await objectsOf(job.generationId)
    expect(stored.toSorted((a, b) => keys.indexOf(a.key) - keys.indexOf(b.key))).toEqual(
      keys.map((key) => ({ key, isKept: true })),
    )
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'COMPLETED', balance: 10 - 4 })
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it('loses and charges nothing twice when its worker is killed after the first of several results', async () => {
    const job = await accept({ options: { ...callOf(caller).options, count: 2 }, cost: 2 })
    infer = async () => severalOf(ofSeed('one', 1, 0.8), ofSeed('two', 2, 0.4))
    const killed = { ...storage, put: () => new Promise<never>(() => {}) }
    const dying = consumeTryOn(job, optionsOf({ signResult: unsigned, storage: killed }))
    await vi.waitUntil(async () => (await objectsOf(job.generationId)).length > 0)
    await database.query(sql.unsafe`
      update generations set lease_until = now() - interval '1 second' where id = ${job.generationId}`)
    expect(await generations.recoverLost(10)).toBe(1)
    await consumeTryOn(await queue(job.generationId), optionsOf({ signResult: unsigned }))
    const { results } = (await generations.find(job.generationId)) ?? {}
    expect(
      await Promise.all((results ?? []).map(async ({ key = '' }) => (await storage.get(key))?.toString())),
    ).toEqual(['one', 'two'])
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'COMPLETED', attempt: 2, balance: 8 })
    // What the dead attempt stored expires.
    expect((await objectsOf(job.generationId)).map(({ isKept }) => isKept).toSorted()).toEqual([false, true, true])
    void dying
  })

  it('deletes all of several results when cancelled during their upload', async () => {
    const job = await accept({ options: { ...callOf(caller).options, count: 2 }, cost: 2 })
    infer = async () => severalOf(ofSeed('one', 1, 0.8), ofSeed('two', 2, 0.4))
    const cancelling: ObjectStorage['put'] = async (...all) => {
      await storage.put(...all)
      await generations.fail({
        id: job.generationId,
        attempt: null,
        code: 'GENERATION_CANCELLED',
        message: 'Cancelled.',
      })
    }
    await consumeTryOn(job, optionsOf({ signResult: unsigned, storage: { ...storage, put: cancelling } }))
    for (const index of [0, 1]) expect(await storage.get(resultKeyOf({ ...job, format: 'jpeg', index }))).toBeNull()
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'FAILED', balance: 10 })
  })

  it('draws the layers of an outfit in one attempt, and judges and names the photo of the caller for each', async () => {
    const accepted = await accept()
    const { product } = accepted
    const others = ['bottoms', 'tops'].map((id) => ({ ...product, id }))
    const layers = [
      { layer: 'tops' as const, product: others[1] },
      { layer: 'bottoms' as const, product: others[0] },
    ]
    await database.query(sql.unsafe`
      update generations set layers = ${sql.jsonb([
        { layer: 'tops', externalId: 't', title: null, cost: 1 },
        { layer: 'bottoms', externalId: 'b', title: null, cost: 1 },
      ])}
      where id = ${accepted.generationId}`)
    const job = await change(accepted, { layers, safety: { level: 'standard', allowsSwimwear: false } })
    for (const { id } of others)
      await storage.put(garmentKeyOf({ ...job, product: { ...product, id } }), Buffer.from(id), {
        contentType: 'application/octet-stream',
      })
    const pairs: unknown[] = []
    const examinePair: WorkerOperations['examinePair'] = async ({ pair }) => {
      pairs.push(pair.digests)
      return { allowances: [], blocked: [] }
    }
    infer = async ({ garment }) => ({
      ...RESULT,
      image: garment === requests[0].garment ? Buffer.from('dressed') : RESULT.image,
    })
    const detections: unknown[] = []
    const recordDetections: ConsumeOptions['recordDetections'] = async ({ product: { id } }) => void detections.push(id)
    await consumeTryOn(job, optionsOf({ calls: { ...calls, examinePair }, recordDetections }))
    expect(
      requests.map(({ photo, garment, product: { classifications }, options }) => [
        ...[photo, garment].map((bytes) => Buffer.from(bytes).toString()),
        ...[classifications?.category, options.format],
      ]),
    ).toEqual([
      ['photo', 'bottoms', 'bottoms', 'png'],
      ['dressed', 'tops', 'tops', 'jpeg'],
    ])
    const digestOf = (text: string) => createHash('sha256').update(text).digest('hex')
    expect(pairs).toEqual([
      [digestOf('photo'), digestOf('bottoms')],
      [digestOf('photo'), digestOf('tops')],
    ])
    expect(detections).toEqual(['bottoms', 'tops'])
    const { resultKey, ingredientSalt, layers: ended } = (await generations.find(job.generationId)) ?? {}
    const { statement } = await verifyProvenance((await storage.get(resultKey ?? '')) ?? Buffer.alloc(0))
    expect(statement?.ingredients.map(({ name }) => name)).toEqual(
      ['photo', 'bottoms', 'tops'].map((text) => nameIngredient(Buffer.from(text), ingredientSalt ?? '')),
    )
    expect(ended).toMatchObject([
      { externalId: 't', cost: 1, applied: true, quality: 0.9 },
      { externalId: 'b', cost: 1, applied: true, quality: 0.9 },
    ])
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'COMPLETED', attempt: 1, balance: 9 })
  })

  it('checks photo and product against the list before inference, only for accounts with a safety level', async () => {
    const asked: unknown[] = []
    const askList: ConsumeOptions['askList'] = async (images) => {
      asked.push(images)
      return [{ image: 'person', reason: 'PUBLIC_FIGURE' }]
    }
    const unchecked = await accept()
    await consumeTryOn(unchecked, optionsOf({ askList }))
    expect(await generations.find(unchecked.generationId)).toMatchObject({ status: 'COMPLETED' })
    expect(asked).toEqual([])
    await createAccounts(database).update(caller.accountId, { settings: { safetyLevel: 'standard' } })
    const [sent, job] = [requests.length, await accept()]
    await storage.put(job.person.objectKey, await readSample('persons/down-half-teal.jpg'), {
      contentType: 'image/jpeg',
    })
    await consumeTryOn(job, optionsOf({ askList }))
    const { status, errorCode, errorDetails } = (await generations.find(job.generationId)) ?? {}
    expect({ status, errorCode, errorDetails }).toMatchObject({
      status: 'FAILED',
      errorCode: 'IMAGE_LISTED',
      errorDetails: [{ path: 'person.image' }],
    })
    expect([asked.length, requests.length]).toEqual([1, sent])
    const late = await accept()
    await storage.put(late.person.objectKey, await readSample('persons/down-half-teal.jpg'), {
      contentType: 'image/jpeg',
    })
    await consumeTryOn(late, optionsOf({ askList: () => Promise.reject(new Error('no answer')) }))
    expect(await generations.find(late.generationId)).toMatchObject({
      status: 'COMPLETED',
      warnings: ['SAFETY_CHECK_SKIPPED', 'CATEGORY_ASSUMED'],
    })
    // The refusal was refunded.
    expect(await stateOf(late.generationId)).toMatchObject({ balance: 8 })
  })

  it('is retried while the list does not answer at strict, and then fails without a charge', async () => {
    await createAccounts(database).update(caller.accountId, { settings: { safetyLevel: 'strict' } })
    const noAnswer = () => Promise.reject(new Error('no answer'))
    const attempts = async (answers: readonly NonNullable<ConsumeOptions['askList']>[]) => {
      const first = await accept()
      await storage.put(first.person.objectKey, await readSample('persons/down-half-teal.jpg'), {
        contentType: 'image/jpeg',
      })
      const states: unknown[] = []
      for (const [i, askList] of answers.entries()) {
        await consumeTryOn({ ...first, attempt: i + 1 }, optionsOf({ askList }))
        const { status, errorCode } = (await generations.find(first.generationId)) ?? {}
        states.push([status, errorCode])
      }
      return { states, id: first.generationId }
    }
    const down = await attempts([noAnswer, noAnswer, noAnswer])
    expect(down.states).toEqual([
      ['PENDING', null],
      ['PENDING', null],
      ['FAILED', 'SAFETY_UNAVAILABLE'],
    ])
    expect(await stateOf(down.id)).toMatchObject({ balance: 10 })
    const brief = await attempts([noAnswer, async () => []])
    expect(brief.states.at(-1)).toEqual(['COMPLETED', null])
  })

  it('passes a refused safety check once after an operator has allowed its pair of images', async () => {
    await createAccounts(database).update(caller.accountId, { settings: { safetyLevel: 'standard' } })
    const [person, shirt] = await Promise.all([
      readSample('persons/down-half-teal.jpg'),
      readSample('garments/tshirt-mustard.jpg'),
    ])
    const refusal = new DrapeError('NUDITY_DETECTED', 'Nude.', { image: 'person', check: 'nudity' })
    infer = async ({ allowances = [] }) => {
      if (allowances.some(({ check, image }) => check === 'nudity' && image === 'person')) return RESULT
      throw refusal
    }
    const consume = async (garment: Buffer) => {
      const job = await accept()
      await storage.put(job.person.objectKey, person, { contentType: 'image/jpeg' })
      await storage.put(garmentKeyOf(job), garment, { contentType: 'application/octet-stream' })
      await consumeTryOn(job, optionsOf())
      const { status, errorCode } = (await generations.find(job.generationId)) ?? {}
      return { id: job.generationId, status, errorCode }
    }
    const reviews = createSafetyReviews(database)
    const decide = async (id: string, decision: ReviewDecision) => {
      expect(await reviews.appeal(id, 'It is a beige shirt.')).toMatchObject({
        state: 'OPEN',
        check: 'nudity',
        image: 'person',
      })
      expect(await reviews.decide(id, { version: 1, decision, answer: 'Right.' })).toBe(true)
    }
    const [first, sibling] = [await consume(shirt), await consume(shirt)]
    expect([first.errorCode, sibling.errorCode]).toEqual(['NUDITY_DETECTED', 'NUDITY_DETECTED'])
    await decide(first.id, 'ALLOWED')
    // Another product is another pair.
    expect(await consume(await readSample('garments/tshirt-navy.jpg'))).toMatchObject({ status: 'FAILED' })
    const passed = await consume(shirt)
    expect(passed).toMatchObject({ status: 'COMPLETED' })
    expect(requests.at(-1)?.allowances).toEqual([{ check: 'nudity', image: 'person' }])
    expect(await reviews.find(first.id)).toMatchObject({ state: 'ALLOWED', usedBy: passed.id })
    expect(await consume(shirt)).toMatchObject({ status: 'FAILED' })
    await decide(sibling.id, 'BLOCKED')
    const asked = requests.length
    expect(await consume(await readSample('garments/tshirt-navy.jpg'))).toMatchObject({ errorCode: 'IMAGE_LISTED' })
    expect(requests.length).toBe(asked)
    await createAccounts(database).update(caller.accountId, { settings: { safetyLevel: 'off' } })
    infer = async () => RESULT
    const unchecked = await consume(shirt)
    expect(unchecked).toMatchObject({ status: 'COMPLETED' })
    // Refusals and appeals were free.
    expect(await stateOf(unchecked.id)).toMatchObject({ balance: 8 })
    await database.query(sql.unsafe`delete from safety_blocks`)
  })

  it('takes photo, product and account from its own row, whatever the queue names', async () => {
    const theirs = await accept()
    await storage.put(theirs.person.objectKey, Buffer.from('their photo'), { contentType: 'image/jpeg' })
    caller = await createCaller(database, 10)
    const { generationId, attempt } = await accept()
    const forged = { ...theirs, generationId, attempt }
    await consumeTryOn(forged, optionsOf())
    expect(requests.map(({ photo }) => photo)).toEqual([Buffer.from('photo')])
    const resultKey = resultKeyOf({ accountId: caller.accountId, generationId, attempt: 1, format: 'jpeg' })
    expect(await generations.find(generationId)).toMatchObject({ status: 'COMPLETED', resultKey })
    expect(await generations.find(theirs.generationId)).toMatchObject({ status: 'PENDING' })
  })

  it('passes photo, product and options of the request to the engine', async () => {
    const job = await accept()
    const { product, options } = job
    await consumeTryOn(await change(job, { product: { ...product, title: 'Shirt', description: 'Blue' } }), optionsOf())
    expect(requests).toEqual([
      {
        engine: 'warp',
        photo: Buffer.from('photo'),
        crop: 'auto',
        garment: Buffer.from('garment'),
        // SHA-256 of `garment`
        garmentHash: '7a8b166e62b835fc5547f0f3c437e31e34a463da34bf6c37ef360d859f21412e',
        logo: null,
        product: { title: 'Shirt', description: 'Blue', classifications: null },
        options,
        safety: null,
        minQuality: null,
      },
    ])
    expect(noted).toEqual([requests[0].garmentHash, requests[0].garmentHash])
  })

  it.each([
    [
      'the crop that the upload has found',
      { cropMode: 'auto', crop: { x: 1, y: 2, width: 40, height: 50 } },
      { x: 1, y: 2, width: 40, height: 50 },
    ],
    ['no crop when the caller wants none', { cropMode: 'none', crop: { x: 1, y: 2, width: 40, height: 50 } }, 'none'],
  ] as const)('passes %s to the engine', async (_, person, crop) => {
    const job = await accept()
    await consumeTryOn(await change(job, { person: { ...job.person, ...person } }), optionsOf())
    expect(requests[0].crop).toEqual(crop)
  })

  it.each([
    ['the logo', Buffer.from('logo'), Buffer.from('logo')],
    ['that the logo is missing', null, 'missing'],
  ] as const)('passes %s to the engine', async (_, loaded, logo) => {
    const job = await accept()
    await consumeTryOn(await change(job, { logoKey: 'logos/1' }), optionsOf({ loadLogo: async () => loaded }))
    expect(requests[0].logo).toEqual(logo)
  })

  it('is returned unprocessed when the worker is fenced, which then pauses', async () => {
    const job = await accept()
    await consumeTryOn(job, optionsOf({ isFenced: () => true }))
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'PENDING', attempt: 1, due: 1 })
    expect([requests.length, rests]).toEqual([0, 1])
    expect(await outcomes()).toEqual([['try-on', 'handed back', 1]])
  })

  it.each([
    ['is left to another worker that has not failed it', ['this'], ['this', 'other'], false],
    ['is retried when every other worker has failed it too', ['this', 'other'], ['this', 'other'], true],
    ['is retried when no other worker is live', ['this'], ['this'], true],
    ['is processed by a worker that has not failed it', ['other'], ['this', 'third'], true],
  ] as const)('%s', async (_, failedOn, live, taken) => {
    const job = { ...(await accept()), failedOn: [...failedOn] }
    await consumeTryOn(job, optionsOf({ findWorkersWith: async () => live.map((worker) => ({ worker })) }))
    expect(requests.length).toBe(taken ? 1 : 0)
    expect(await stateOf(job.generationId)).toMatchObject({ status: taken ? 'COMPLETED' : 'PENDING' })
  })

  it('is retried when other workers cannot be listed', async () => {
    const job = { ...(await accept()), failedOn: ['this'] }
    await consumeTryOn(job, optionsOf({ findWorkersWith: () => Promise.reject(new Error('no connection')) }))
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'COMPLETED' })
  })

  it('is skipped when already cancelled', async () => {
    const job = await accept()
    await generations.fail({ id: job.generationId, attempt: null, code: 'GENERATION_CANCELLED', message: 'Cancelled.' })
    await consumeTryOn(job, optionsOf())
    expect([requests.length, rests]).toEqual([0, 0])
    expect(await outcomes()).toEqual([['try-on', 'over', 1]])
  })

  it('fails with the invalid field and a refund when the product image cannot be fetched', async () => {
    const job = await accept()
    await storage.delete([garmentKeyOf(job)])
    const message = 'The image could not be fetched: the server returned 404.'
    const fetchImage = () => Promise.reject(new DrapeError('PRODUCT_IMAGE_FETCH_FAILED', message))
    await consumeTryOn(job, optionsOf({ fetchImage }))
    expect(await generations.find(job.generationId)).toMatchObject({
      status: 'FAILED',
      errorCode: 'PRODUCT_IMAGE_FETCH_FAILED',
      errorMessage: message,
      errorDetails: [{ path: 'products[0].images[0]', message }],
    })
    expect(await stateOf(job.generationId)).toMatchObject({ balance: 10 })
    expect(await outcomes()).toEqual([['try-on', 'failed', 1]])
  })

  it('fails with the field of the photo when the photo was deleted', async () => {
    const job = await accept()
    await storage.delete([job.person.objectKey])
    await consumeTryOn(job, optionsOf())
    expect(await generations.find(job.generationId)).toMatchObject({
      errorCode: 'GENERATION_FAILED',
      errorDetails: [{ path: 'person.image', message: 'The photo of the person has been deleted.' }],
    })
  })

  it('is retried after 1 s and 4 s, then fails with a refund', async () => {
    infer = () => Promise.reject(new Error('the process has crashed'))
    let job = await accept()
    const states = []
    for (let attempt = 1; attempt <= 3; attempt++) {
      await consumeTryOn(job, optionsOf({ worker: `worker-${attempt}` }))
      states.push(await stateOf(job.generationId))
      if (attempt < 3) job = await queue(job.generationId)
    }
    expect(states).toEqual([
      { status: 'PENDING', attempt: 2, balance: 9, due: 1, failedOn: ['worker-1'] },
      { status: 'PENDING', attempt: 3, balance: 9, due: 4, failedOn: ['worker-1', 'worker-2'] },
      { status: 'FAILED', attempt: 3, balance: 10, due: null, failedOn: null },
    ])
    expect(await outcomes()).toEqual([['try-on', 'retry', 3]])
  })

  it('is retried after a retryable error', async () => {
    infer = () => Promise.reject(new DrapeError('SERVICE_UNAVAILABLE', 'No process is ready.', { retryable: true }))
    const job = await accept()
    await consumeTryOn(job, optionsOf())
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'PENDING', attempt: 2 })
  })

  it('uses no attempt for device faults, up to a limit', async () => {
    infer = () => Promise.reject(new DeviceFault('OutOfMemory', 'out of memory'))
    let job = await accept()
    for (let spared = 1; spared <= MAX_DEVICE_FAILURES; spared++) {
      await consumeTryOn(job, optionsOf({ worker: `worker-${spared}` }))
      expect(await stateOf(job.generationId)).toMatchObject({ status: 'PENDING', attempt: 1 })
      job = await queue(job.generationId)
    }
    expect(await outcomes()).toEqual([['try-on', 'handed back', MAX_DEVICE_FAILURES]])
    await consumeTryOn(job, optionsOf())
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'PENDING', attempt: 2 })
  })

  it('is returned without using an attempt when the node shuts down, and then runs', async () => {
    const handBack = createHandBack()
    // A process in the middle of a model run does not react to the abort.
    infer = () => new Promise(() => handBack.now())
    const job = await accept()
    await consumeTryOn(job, optionsOf({ handBack }))
    expect(await stateOf(job.generationId)).toMatchObject({ status: 'PENDING', attempt: 1, failedOn: ['this'] })
    expect(await outcomes()).toEqual([['try-on', 'handed back', 1]])
    infer = async () => RESULT
    const next = await accept()
    await consumeTryOn(next, optionsOf({ handBack }))
    expect(await stateOf(next.generationId)).toMatchObject({ status: 'COMPLETED' })
  })

  it('deletes the result when cancelled during its upload', async () => {
    const job = await accept()
    const put: ObjectStorage['put'] = async (...all) => {
      await storage.put(...all)
      await generations.fail({
        id: job.generationId,
        attempt: null,
        code: 'GENERATION_CANCELLED',
        message: 'Cancelled.',
      })
    }
    await consumeTryOn(
      job,
      optionsOf({
        storage: { ...storage, put: (key, ...rest) => (key.startsWith('results/') ? put : storage.put)(key, ...rest) },
      }),
    )
    expect(await generations.find(job.generationId)).toMatchObject({ status: 'FAILED', resultKey: null })
    expect(await storage.get(resultKeyOf({ ...job, format: 'jpeg' }))).toBeNull()
    const lasting = await database.any(sql.unsafe`
      select from objects where key like ${`results/${caller.accountId}/%`} and expires_at > now() + interval '1 hour'`)
    expect(lasting).toEqual([])
    expect(await outcomes()).toEqual([['try-on', 'late', 1]])
  })

  it('stores no result of an ended attempt', async () => {
    const job = await accept()
    infer = async () => {
      await generations.fail({
        id: job.generationId,
        attempt: null,
        code: 'GENERATION_CANCELLED',
        message: 'Cancelled.',
      })
      return RESULT
    }
    await consumeTryOn(job, optionsOf())
    expect(await storage.get(resultKeyOf({ ...job, format: 'jpeg' }))).toBeNull()
    expect(await outcomes()).toEqual([['try-on', 'late', 1]])
  })

  describe('with a fake clock', () => {
    /** Resolves once the inference runs, and again when its signal is aborted. */
    const startHanging = () => {
      const running = Promise.withResolvers<(share: number) => void>()
      infer = (_, { signal, onProgress }) => {
        running.resolve(onProgress)
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      }
      return running.promise
    }
    beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] }))

    it('renews its lease with progress every 2 s until it ends', async () => {
      const started = startHanging()
      const job = await accept()
      const renewals: unknown[] = []
      const renew: WorkerOperations['renew'] = async (renewal) => {
        renewals.push(renewal)
        return renewals.length < 3
      }
      const consuming = consumeTryOn(job, optionsOf({ calls: { ...calls, renew } }))
      const report = await started
      report(0.25)
      await vi.advanceTimersByTimeAsync(1999)
      expect(renewals).toEqual([])
      await vi.advanceTimersByTimeAsync(2001)
      report(0.5)
      await vi.advanceTimersByTimeAsync(2000)
      await consuming
      expect(renewals.map((renewal) => (renewal as { progress: number }).progress)).toEqual([0.25, 0.25, 0.5])
      await vi.advanceTimersByTimeAsync(10_000)
      expect(renewals).toHaveLength(3)
      // Another worker owns the attempt by now.
      expect(await stateOf(job.generationId)).toMatchObject({ status: 'PROCESSING', attempt: 1 })
      expect(await outcomes()).toEqual([['try-on', 'late', 1]])
    })

    it('continues when a lease renewal fails', async () => {
      const started = startHanging()
      const job = await accept()
      let renewals = 0
      const renew = () => (++renewals < 2 ? Promise.reject(new Error('no connection')) : Promise.resolve(false))
      const consuming = consumeTryOn(job, optionsOf({ calls: { ...calls, renew } }))
      await started
      await vi.advanceTimersByTimeAsync(4000)
      await consuming
      expect(renewals).toBe(2)
    })

    it('stops at its deadline, also while loading images, and changes no state', async () => {
      const job = await accept({ deadlineSeconds: 10 })
      const loading = Promise.withResolvers<void>()
      const loadLogo = () => {
        loading.resolve()
        return new Promise<null>(() => {})
      }
      const options = optionsOf({ loadLogo, calls: { ...calls, renew: async () => true } })
      const consuming = consumeTryOn(await change(job, { logoKey: 'logos/1' }), options)
      await loading.promise
      await vi.advanceTimersByTimeAsync(10_000)
      await consuming
      expect(await stateOf(job.generationId)).toMatchObject({ status: 'PROCESSING', attempt: 1 })
      expect(await outcomes()).toEqual([['try-on', 'late', 1]])
    })
  })
})
