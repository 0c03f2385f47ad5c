import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AccountSettings } from '../api/accounts/account-settings.ts'
import { createAccounts } from '../api/accounts/accounts.store.ts'
import { decodeImage, encodeImage } from '../api/shared/image/image.ts'
import { createSafetyReviews } from '../api/trust/appeals/safety-reviews.store.ts'
import { type Drape, readSample, startDrape } from './support/drape.ts'
import { mistakenShapes } from './support/mistaken-shapes.ts'

/** Real models judge the images; the engine is quick. */
describe('the safety level of an account', () => {
  let drape: Drape
  let person: Buffer
  let shirt: Buffer
  let shapes: Buffer
  beforeAll(async () => {
    ;[person, shirt, shapes] = await Promise.all([
      readSample('persons/astronaut.jpg'),
      readSample('garments/tshirt-mustard.jpg'),
      mistakenShapes(),
    ])
    drape = await startDrape()
    await drape.startWorker({ AGE_CHECK: 'true' })
  })
  afterAll(() => drape.stop())

  const accounts = () => createAccounts(drape.database)
  const set = (settings: { [K in keyof AccountSettings]: AccountSettings[K] | null }) =>
    accounts().update(drape.accountId, { settings })
  const body = {
    products: [{ title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] }],
    person: { image: { source: { fileKey: 'me' } } },
  }
  const tryOn = async (files: Record<string, Buffer>) =>
    drape.finish(await drape.tryOn(body, { me: person, shirt, ...files }))

  it('is off by default, without any check', async () => {
    const result = await tryOn({ me: shapes })
    expect(result).toMatchObject({ status: 'COMPLETED', warnings: [] })
    expect(result.timings).not.toHaveProperty('safety')
  })

  it.each(['standard', 'strict'] as const)('%s refuses nudity in both images, with a refund', async (safetyLevel) => {
    await set({ safetyLevel })
    const before = await drape.balance()
    for (const [files, path] of [
      [{ me: shapes }, 'person.image'],
      [{ shirt: shapes }, 'products[0].images[0]'],
    ] as const) {
      const result = await tryOn(files)
      expect(result).toMatchObject({ status: 'FAILED', errorCode: 'NUDITY_DETECTED', errorDetails: [{ path }] })
      expect(result).not.toHaveProperty('resultImageUrl')
    }
    expect(await drape.balance()).toBe(before)
    const harmless = await tryOn({})
    expect(harmless).toMatchObject({ status: 'COMPLETED', timings: { safety: expect.any(Number) } })
    expect(await drape.balance()).toBe(before - 1)
    expect(await accounts().findLedgerGaps()).toEqual([])
    await set({ safetyLevel: null })
  })

  it('neither shows nor misses what a photo hides below transparent pixels', async () => {
    await set({ safetyLevel: 'standard' })
    const { width, height, data } = await decodeImage(person)
    const rgba = new Uint8Array(width * height * 4)
    for (let i = 0; i < width * height; i++) rgba.set(data.subarray(3 * i, 3 * i + 3), 4 * i)
    const hidden = await encodeImage({ width, height, channels: 4, data: rgba }, { format: 'png' })
    const { status, resultImageUrl } = await tryOn({ me: hidden })
    expect(status).toBe('COMPLETED')
    const result = await decodeImage(Buffer.from(await (await fetch(resultImageUrl)).arrayBuffer()))
    expect(result.data.every((value) => value > 250)).toBe(true)
    await set({ safetyLevel: null })
  })

  it('lets an allowed pair pass the appealed check alone: the result is checked on', async () => {
    await set({ safetyLevel: 'standard' })
    const before = await drape.balance()
    const refused = async () => {
      const { generationId, status, errorCode } = await tryOn({ me: shapes })
      const appealed = await drape.call('POST', `/tryon/v1/generations/${generationId}/appeal`, {
        body: { reason: 'These are ellipses.' },
      })
      expect([status, appealed.status, appealed.body.state]).toEqual(['FAILED', 200, 'OPEN'])
      const decision = { version: 1, decision: 'ALLOWED', answer: 'They are.' } as const
      expect(await createSafetyReviews(drape.database).decide(generationId, decision)).toBe(true)
      return errorCode
    }
    expect(await refused()).toBe('NUDITY_DETECTED')
    expect(await refused()).toBe('RESULT_REJECTED')
    expect(await drape.balance()).toBe(before)
    expect(await tryOn({ me: shapes })).toMatchObject({ status: 'COMPLETED' })
    expect(await tryOn({ me: shapes })).toMatchObject({ status: 'FAILED', errorCode: 'NUDITY_DETECTED' })
    expect(await drape.balance()).toBe(before - 1)
    await set({ safetyLevel: null })
  })

  it('strict asks for a review of a face that looks young, which an operator lets pass once', async () => {
    await set({ safetyLevel: 'strict' })
    const before = await drape.balance()
    // The model estimates a child for the plain face of the rendered figure.
    const young = await readSample('persons/down-half-teal.jpg')
    const refused = await tryOn({ me: young })
    expect(refused).toMatchObject({
      status: 'FAILED',
      errorCode: 'AGE_REVIEW',
      errorDetails: [{ path: 'person.image' }],
      appealUrl: expect.stringContaining('/appeal/'),
    })
    expect(await drape.balance()).toBe(before)
    const { generationId } = refused
    const appealed = await drape.call('POST', `/tryon/v1/generations/${generationId}/appeal`, {
      body: { reason: 'I am 30 years old.' },
    })
    expect(appealed.body).toMatchObject({ state: 'OPEN' })
    const decision = { version: 1, decision: 'ALLOWED', answer: 'You are.' } as const
    expect(await createSafetyReviews(drape.database).decide(generationId, decision)).toBe(true)
    expect(await tryOn({ me: young })).toMatchObject({ status: 'COMPLETED', warnings: [] })
    expect(await tryOn({ me: young })).toMatchObject({ status: 'FAILED', errorCode: 'AGE_REVIEW' })
    await set({ safetyLevel: 'standard' })
    expect(await tryOn({ me: young })).toMatchObject({ status: 'COMPLETED', warnings: [] })
    expect(await drape.balance()).toBe(before - 2)
    await set({ safetyLevel: null })
  })

  it('strict estimates no age unless the operator of the workers enables it', async () => {
    const other = await startDrape()
    try {
      await other.startWorker()
      await createAccounts(other.database).update(other.accountId, { settings: { safetyLevel: 'strict' } })
      const young = await readSample('persons/down-half-teal.jpg')
      const result = await other.finish(await other.tryOn(body, { me: young, shirt }))
      expect(result).toMatchObject({ status: 'COMPLETED', warnings: [] })
    } finally {
      await other.stop()
    }
  })

  it('without the model refuses at strict and warns at standard', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'models-'))
    const other = await startDrape()
    try {
      await cp('worker/models', folder, { recursive: true, filter: (path) => !path.endsWith('exposure.onnx') })
      await other.startWorker({ MODEL_DIR: folder })
      const result = async (safetyLevel: 'standard' | 'strict') => {
        await createAccounts(other.database).update(other.accountId, { settings: { safetyLevel } })
        return other.finish(await other.tryOn(body, { me: person, shirt }))
      }
      const before = await other.balance()
      expect(await result('strict')).toMatchObject({ status: 'FAILED', errorCode: 'SAFETY_UNAVAILABLE' })
      expect(await other.balance()).toBe(before)
      expect(await result('standard')).toMatchObject({ status: 'COMPLETED', warnings: ['SAFETY_CHECK_SKIPPED'] })
    } finally {
      await other.stop()
      await rm(folder, { recursive: true })
    }
  })
})
