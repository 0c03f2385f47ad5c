import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { Type } from '../../api/shared/contract/schema.ts'
import { createDatabase, rowType, sql } from '../../api/shared/database/database.ts'
import { type Answer, formOf, readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { until } from '../support/until.ts'

const Count = rowType(Type.Object({ count: Type.Integer() }))
const MOCK = { engine: 'mock' }

describe('erasure of an end user', async () => {
  const person = await readSmallPerson()
  const shirt = await readSample('garments/tshirt-navy.jpg')
  const drape = await startDrape({ credits: 1000 })
  await drape.startWorker({ ENGINES: 'mock', QUEUES: 'try-on' })
  const product = { externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }
  const form = formOf(product, { shirt })
  expect((await drape.call('POST', '/tryon/v1/products', { body: form })).status).toBe(200)
  afterAll(() => drape.stop())

  const upload = (externalUserId?: string) => drape.upload(person, { crop: 'false', externalUserId })
  const bodyOf = (source: object, externalUserId?: string, output: object = {}) => ({
    products: [{ externalId: 'shirt' }],
    person: { image: { source } },
    externalUserId,
    output: { ...MOCK, ...output },
  })
  const tryOn = (imageId: string, externalUserId?: string, output: object = {}) =>
    drape.call('POST', '/tryon/v1/try-on', { body: bodyOf({ id: imageId }, externalUserId, output) })
  const tryOnFile = (externalUserId: string) =>
    drape.call('POST', '/tryon/v1/try-on', { body: formOf(bodyOf({ fileKey: 'me' }, externalUserId), { me: person }) })
  const erase = (externalUserId: string) => drape.call('DELETE', `/tryon/v1/customers/${externalUserId}`)
  const statusOf = async (link: string) => (await fetch(link)).status
  const generationsOf = (externalUserId: string) =>
    drape.database.oneFirst(sql.type(Count)`
      select count(*) as count from generations where external_user_id = ${externalUserId}`)

  it('refuses a photo and a try-on that were sent before it and have arrived after it', async () => {
    for (const [path, form] of [
      ['/tryon/v1/images/upload', formOf(undefined, { file: person })],
      ['/tryon/v1/try-on', formOf(bodyOf({ fileKey: 'me' }, 'slow'), { me: person })],
    ] as const) {
      if (path.endsWith('upload')) form.set('externalUserId', 'slow')
      const { headers, body } = new Request('http://localhost', { method: 'POST', body: form })
      const bytes = Buffer.from(await new Response(body).arrayBuffer())
      const call = request(`${drape.api.url}${path}`, {
        method: 'POST',
        headers: {
          'x-api-key': drape.apiKey,
          'content-type': headers.get('content-type') ?? '',
          'content-length': bytes.byteLength,
        },
      })
      call.write(bytes.subarray(0, 1000))
      // The API has received the headers.
      await sleep(500)
      expect((await erase('slow')).status).toBe(204)
      call.end(bytes.subarray(1000))
      const [answer] = (await once(call, 'response')) as [IncomingMessage]
      expect([path, answer.statusCode, ((await json(answer)) as { code: string }).code]).toEqual([
        path,
        400,
        'VALIDATION_FAILED',
      ])
    }
    expect(await generationsOf('slow')).toBe(0)
    const left = drape.database.oneFirst(sql.type(Count)`
      select count(*) as count from objects where external_user_id = 'slow'`)
    expect(await left).toBe(0)
  })

  describe('while calls wait for the lock of the account', () => {
    /** Starts the calls, erases the end user when all of them wait, and only then lets them go on. */
    async function eraseMeanwhile(
      externalUserId: string,
      calls: readonly (() => Promise<Answer>)[],
      statements = 1,
    ): Promise<Answer[]> {
      const holder = createDatabase(drape.env.DATABASE_URL, { poolSize: 1 })
      const held = Promise.withResolvers<void>()
      const release = Promise.withResolvers<void>()
      const holding = holder.transaction(async (transaction) => {
        await transaction.query(sql.unsafe`select from accounts where id = ${drape.accountId} for no key update`)
        held.resolve()
        await release.promise
      })
      await held.promise
      const answers = calls.map((call) => call())
      try {
        await until(async () => (await countWaiting()) >= statements)
        // Time for further calls to join the line behind the statement.
        await sleep(100)
        expect((await erase(externalUserId)).status).toBe(204)
      } finally {
        release.resolve()
        await holding
        await holder.end()
      }
      return Promise.all(answers)
    }
    const countWaiting = () =>
      drape.database.oneFirst(sql.type(Count)`
        select count(*) as count from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%credits_low_since%'`)

    it('accepts none with a photo of the end user', async () => {
      const { imageId } = await upload('waiting-1')
      const [answer] = await eraseMeanwhile('waiting-1', [() => tryOn(imageId, 'waiting-1')])
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
      expect(await generationsOf('waiting-1')).toBe(0)
    })

    it('accepts none with a photo that has no end user, and keeps the photo', async () => {
      const { imageId, imageUrl } = await upload()
      const [answer] = await eraseMeanwhile('waiting-2', [() => tryOn(imageId, 'waiting-2')])
      expect(answer).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED', details: [{ path: 'externalUserId' }] },
      })
      expect(await generationsOf('waiting-2')).toBe(0)
      expect(await statusOf(imageUrl)).toBe(200)
    })

    it('accepts none with a photo that came with the call, and keeps nothing of the photo', async () => {
      const [answer] = await eraseMeanwhile('waiting-3', [() => tryOnFile('waiting-3')])
      expect(answer.status).toBe(400)
      expect(await generationsOf('waiting-3')).toBe(0)
      const left = await drape.database.oneFirst(sql.type(Count)`
        select count(*) as count from objects where external_user_id = 'waiting-3'`)
      expect(left).toBe(0)
    })

    it('accepts none that waits behind another call, and those of other end users', async () => {
      const [{ imageId }, { imageId: other }] = [await upload(), await upload('neighbour')]
      const calls = [
        () => tryOn(imageId, 'waiting-4'),
        () => tryOn(imageId, 'waiting-4'),
        () => tryOn(other, 'neighbour'),
        () => tryOn(imageId),
      ]
      const answers = await eraseMeanwhile('waiting-4', calls)
      expect(answers.map(({ status }) => status)).toEqual([400, 400, 201, 201])
      expect(await generationsOf('waiting-4')).toBe(0)
    })

    it('accepts new calls of the same end user afterwards', async () => {
      const { imageId } = await upload('waiting-5')
      await eraseMeanwhile('waiting-5', [() => tryOn(imageId, 'waiting-5')])
      const again = await upload('waiting-5')
      const { status, body } = await tryOn(again.imageId, 'waiting-5')
      expect(status).toBe(201)
      expect(await drape.finish(body.generationId)).toMatchObject({ status: 'COMPLETED' })
    })
  })

  it('leaves nothing of calls that are accepted at the same time', async () => {
    const { imageId } = await upload()
    for (let round = 0; round < 8; round++) {
      const calls = Array.from({ length: 12 }, () => tryOn(imageId, 'racing'))
      await sleep(round * 3)
      expect((await erase('racing')).status).toBe(204)
      const answers = await Promise.all(calls)
      // A call that came after the erasure is a new one.
      const accepted = answers.filter(({ status }) => status === 201).map(({ body }) => body.generationId)
      const linked = await drape.database.anyFirst(sql.type(rowType(Type.Object({ id: Type.String() })))`
        select id from generations where external_user_id = 'racing'`)
      for (const id of linked) expect(accepted).toContain(id)
      expect((await erase('racing')).status).toBe(204)
      expect(await generationsOf('racing')).toBe(0)
    }
    expect(
      await drape.database.oneFirst(sql.type(Count)`
      select count(*) as count from images where id = ${imageId}`),
    ).toBeLessThanOrEqual(1)
  })

  describe('with photos that have no end user', () => {
    it('keeps a photo that other end users use, and what was made of it for them', async () => {
      const { imageId, imageUrl } = await upload()
      const ids = [await tryOn(imageId, 'shared-x'), await tryOn(imageId, 'shared-y')].map(
        ({ body }) => body.generationId,
      )
      const [x, y] = await Promise.all(ids.map((id) => drape.finish(id)))
      expect((await erase('shared-x')).status).toBe(204)
      expect(await statusOf(x.resultImageUrl)).toBe(404)
      expect(await statusOf(y.resultImageUrl)).toBe(200)
      expect(await statusOf(imageUrl)).toBe(200)
      expect((await tryOn(imageId, 'shared-y')).status).toBe(201)
      expect(await generationsOf('shared-x')).toBe(0)
      // The last end user takes the photo along.
      expect((await erase('shared-y')).status).toBe(204)
      expect(await statusOf(imageUrl)).toBe(404)
    })

    it('keeps a photo that calls without an end user use', async () => {
      const { imageId, imageUrl } = await upload()
      await tryOn(imageId)
      await tryOn(imageId, 'shared-z')
      expect((await erase('shared-z')).status).toBe(204)
      expect(await statusOf(imageUrl)).toBe(200)
      expect(await generationsOf('shared-z')).toBe(0)
    })

    it('deletes a photo that only the end user used', async () => {
      const { imageId, imageUrl } = await upload()
      await tryOn(imageId, 'alone')
      expect((await erase('alone')).status).toBe(204)
      expect(await statusOf(imageUrl)).toBe(404)
    })
  })
})
