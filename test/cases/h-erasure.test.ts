import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { formOf, readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'

const DAY_SECONDS = 86_400

describe('erasure, retention and links', async () => {
  const person = await readSmallPerson()
  const shirt = await readSample('garments/tshirt-navy.jpg')
  const drape = await startDrape({ credits: 100, env: { TZ: 'Pacific/Kiritimati' } })
  await drape.startWorker()
  afterAll(() => drape.stop())

  const upload = (fields: Record<string, string> = {}) => drape.upload(person, fields)
  const tryOn = (source: object, more: object = {}) =>
    drape.call('POST', '/tryon/v1/try-on', {
      body: formOf(
        {
          products: [{ externalId: 'shirt', images: [{ source: { fileKey: 'shirt' } }] }],
          person: { image: { source } },
          ...more,
        },
        { shirt, me: person },
      ),
    })
  const secondsOf = (imageId: string) =>
    drape.database.oneFirst(sql.unsafe`
      select round(extract(epoch from expires_at - created_at))::int from images where id = ${imageId}`)
  const resultSecondsOf = (generationId: string) =>
    drape.database.oneFirst(sql.unsafe`
      select round(extract(epoch from images_expire_at - created_at))::int from generations where id = ${generationId}`)

  const expiresWithItsPhoto = (generationId: string) =>
    drape.database.oneFirst(sql.unsafe`
      select images_expire_at = images.expires_at from generations join images on images.id = image_id
      where generations.id = ${generationId}`)

  it('issued links return 404 after an erasure, and calls that reference the photo are refused', async () => {
    const photo = await upload({ externalUserId: 'gone' })
    const mock = { externalUserId: 'gone', output: { engine: 'mock' } }
    const { generationId } = (await tryOn({ id: photo.imageId }, mock)).body
    const links = [photo.imageUrl, (await drape.finish(generationId)).resultImageUrl]
    const refreshed = (await drape.call('GET', `/tryon/v1/generations/${generationId}`)).body.resultImageUrl
    for (const link of [...links, refreshed]) expect((await fetch(link)).status).toBe(200)
    expect((await drape.call('DELETE', '/tryon/v1/customers/gone')).status).toBe(204)
    const { TZ: _, ...env } = drape.env
    const other = await startProgram('api', env)
    for (const link of [...links, refreshed]) {
      expect((await fetch(link)).status).toBe(404)
      expect((await fetch(link.replace(drape.api.url, other.url))).status).toBe(404)
      expect((await fetch(link, { method: 'HEAD' })).status).toBe(404)
    }
    await other.end()
    for (const path of ['/tryon/v1/try-on', '/tryon/v1/try-on/sync']) {
      const call = await drape.call('POST', path, {
        body: { products: [{ externalId: 'shirt' }], person: { image: { source: { id: photo.imageId } } } },
      })
      expect(call).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
    }
    const { body } = await drape.call('GET', `/tryon/v1/generations/${generationId}`)
    expect(body).toMatchObject({ status: 'COMPLETED', imagesExpired: true })
    expect(body).not.toHaveProperty('resultImageUrl')
  })

  it.each([1, 3, 7])('images kept for %i days expire after exactly that many times 24 hours', async (days) => {
    const photo = await upload({ keepForDays: String(days) })
    expect(await secondsOf(photo.imageId)).toBe(days * DAY_SECONDS)
    const { body } = await tryOn({ fileKey: 'me' }, { output: { engine: 'mock', keepForDays: days } })
    expect(await resultSecondsOf(body.generationId)).toBe(days * DAY_SECONDS)
  })

  it('a photo can be used until it expires, and not after, even before the sweep', async () => {
    const photo = await upload({ keepForDays: '1' })
    const expireIn = (seconds: number) =>
      drape.database.query(sql.unsafe`
        update images set expires_at = now() + make_interval(secs => ${seconds}) where id = ${photo.imageId}`)
    await expireIn(20)
    expect((await tryOn({ id: photo.imageId }, { output: { engine: 'mock' } })).status).toBe(201)
    await expireIn(0)
    const late = await tryOn({ id: photo.imageId }, { output: { engine: 'mock' } })
    expect(late).toMatchObject({ status: 400, body: { details: [{ path: 'person.image.source.id' }] } })
  })

  it('a result is returned until it expires, and not after, even before the sweep', async () => {
    const { body } = await tryOn({ fileKey: 'me' }, { output: { engine: 'mock' } })
    expect(await drape.finish(body.generationId)).toMatchObject({ resultImageUrl: expect.any(String) })
    const expireIn = (seconds: number) =>
      drape.database.query(sql.unsafe`
        update generations set images_expire_at = now() + make_interval(secs => ${seconds}) where id = ${body.generationId}`)
    await expireIn(20)
    expect(await drape.finish(body.generationId)).toMatchObject({ resultImageUrl: expect.any(String) })
    await expireIn(0)
    const late = await drape.call('GET', `/tryon/v1/generations/${body.generationId}`)
    expect(late.body).toMatchObject({ status: 'COMPLETED', imagesExpired: true })
    expect(late.body).not.toHaveProperty('resultImageUrl')
  })

  it('a change of the default retention of the account does not affect stored images', async () => {
    const early = await upload()
    const { generationId } = (await tryOn({ id: early.imageId }, { output: { engine: 'mock' } })).body
    await drape.finish(generationId)
    expect(await secondsOf(early.imageId)).toBe(7 * DAY_SECONDS)
    await drape.database.query(sql.unsafe`
      update accounts set retention_days = 1 where id = ${drape.accountId}`)
    await until(async () => (await secondsOf((await upload()).imageId)) === DAY_SECONDS)
    expect(await secondsOf(early.imageId)).toBe(7 * DAY_SECONDS)
    const late = (await tryOn({ id: early.imageId }, { output: { engine: 'mock' } })).body
    for (const id of [generationId, late.generationId]) expect(await expiresWithItsPhoto(id)).toBe(true)
    const chosen = await upload({ keepForDays: '3' })
    expect(await secondsOf(chosen.imageId)).toBe(3 * DAY_SECONDS)
    const objects = await drape.database.anyFirst(sql.unsafe`
      select round(extract(epoch from expires_at - now()) / ${DAY_SECONDS})::int from objects
      where position(${early.imageId} in key) > 0`)
    expect(new Set(objects)).toEqual(new Set([7]))
  })
})
