import { text } from 'node:stream/consumers'
import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import { signUploadLink } from '../../../../api/photos/upload-link.ts'
import { sql } from '../../../../api/shared/database/database.ts'
import { createImages } from '../../../../api/shared/image/person-photos.store.ts'
import { sweep } from '../../../../api/shared/retention/erase.ts'
import { createRetention } from '../../../../api/shared/retention/retention.store.ts'
import { createStorage } from '../../../../api/shared/storage/storage.ts'
import { formOf, readSample, startDrape } from '../../../support/drape.ts'
import { startProgram } from '../../../support/process.ts'
import { createDevelopmentShop, type TestShop } from '../../../support/shop.ts'
import { until } from '../../../support/until.ts'

const MAX_BYTES = 10 * 1024 * 1024
const SECRET = 'a secret of the upload tests'

describe('uploads of shoppers', async () => {
  const drape = await startDrape({ env: { SIGNING_SECRET: SECRET } })
  const shop = await createDevelopmentShop(drape)
  const sister = await createDevelopmentShop(drape, 'sister.test')
  const storage = await createStorage(drape.env.STORAGE_URL, { publicUrl: drape.api.url, signingSecret: SECRET })
  const replica = await startProgram('api', { ...drape.env, PUBLIC_URL: drape.api.url })
  await drape.startWorker()
  const photo = await readSample('persons/down-half-teal.jpg')
  // A worker's first crop can take longer than the API waits on a busy machine.
  await until(async () => {
    const upload = { body: formOf(undefined, { file: photo }) }
    return (await drape.call('POST', '/tryon/v1/images/upload', upload)).body.personDetected
  })
  afterAll(async () => {
    await replica.end()
    await drape.stop()
  })

  let shoppers = 0
  /** The headers of a shopper who has sent nothing before. */
  const newShopper = ({ headers }: TestShop = shop) => ({
    ...headers,
    'x-service-anonymous-id': `anon_shopper-${shoppers++}`,
  })
  const post = (path: string, headers: Record<string, string>, body?: unknown) =>
    drape.call('POST', `/public/${path}`, { headers, body, key: null })
  const prepare = async (headers: Record<string, string>) => {
    const answer = await post('prepare-upload', headers)
    expect(answer.status).toBe(200)
    return answer.body as { uploadUrl: string; uploadKey: string }
  }
  const complete = (headers: Record<string, string>, uploadKey: unknown) =>
    post('upload-complete', headers, { uploadKey })
  const put = (url: string, body: Uint8Array | ReadableStream, headers: Record<string, string> = {}) =>
    fetch(url, {
      method: 'PUT',
      body: body as RequestInit['body'],
      headers,
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    })
  const send = async (headers: Record<string, string>, bytes: Uint8Array) => {
    const upload = await prepare(headers)
    expect((await put(upload.uploadUrl, bytes)).status).toBe(200)
    return upload
  }
  const refusalOf = async (response: Response) => ({
    status: response.status,
    code: ((await response.json()) as { code: string }).code,
  })
  /** The first bytes of a photo, then no image. */
  const beginOfPhoto = (length: number) => {
    const bytes = Buffer.alloc(length, 1)
    photo.copy(bytes, 0, 0, 100)
    return bytes
  }
  const objectOf = (uploadKey: string) => `uploads/${uploadKey.slice(4)}.bin`
  const sizeOf = async (url: string) => {
    const { width, height } = await sharp(Buffer.from(await (await fetch(url)).arrayBuffer())).metadata()
    return { width, height }
  }
  const countObjects = () =>
    drape.database.oneFirst(sql.unsafe`select count(*)::int as n from objects where kind = 'person'`)

  it('are sent to their link, become a photo of the shopper, and leave no raw bytes', async () => {
    const headers = newShopper()
    const { uploadUrl, uploadKey } = await prepare(headers)
    expect(uploadUrl.startsWith(`${drape.api.url}/`)).toBe(true)
    const received = await put(uploadUrl, photo, { 'content-type': 'text/html' })
    expect({ status: received.status, body: await received.json() }).toEqual({ status: 200, body: { uploadKey } })
    expect((await storage.get(objectOf(uploadKey)))?.equals(photo)).toBe(true)

    const answer = await complete(headers, uploadKey)
    expect(answer).toMatchObject({
      status: 201,
      body: { fileId: expect.stringMatching(/^img_/), message: expect.any(String) },
    })
    // The worker has cropped it 4:5, as for an upload of the server API.
    const { width = 0, height = 1 } = await sizeOf(answer.body.fileUrl)
    expect(width / height).toBeCloseTo(4 / 5, 2)
    expect(await storage.exists(objectOf(uploadKey))).toBe(false)
    const row = await drape.database.one(sql.unsafe`
      select account_id as "accountId", external_user_id as "externalUserId", crop_mode as crop
      from images where id = ${answer.body.fileId}`)
    const externalUserId = `${shop.id}:browser:${headers['x-service-anonymous-id']}`
    expect(row).toEqual({ accountId: drape.accountId, externalUserId, crop: 'auto' })
  })

  it('are completed once for repeated and concurrent completions', async () => {
    const headers = newShopper()
    const { uploadKey } = await send(headers, photo)
    const before = await countObjects()
    const answers = await Promise.all(Array.from({ length: 5 }, () => complete(headers, uploadKey)))
    const again = await complete(headers, uploadKey)
    expect(again.status).toBe(200)
    for (const { status, body } of answers) {
      expect([200, 201]).toContain(status)
      expect(body.fileId).toBe(again.body.fileId)
    }
    // The photo and its cropped view, which may come after the answers.
    await until(async () => Number(await countObjects()) - Number(before) === 2)
    expect((await fetch(again.body.fileUrl)).status).toBe(200)
  })

  it('are processed by one of several replicas', async () => {
    const headers = newShopper()
    const { uploadKey } = await send(headers, photo)
    const answers = await Promise.all(
      [drape.api.url, replica.url, drape.api.url, replica.url, drape.api.url, replica.url].map(async (base) => {
        const answer = await fetch(`${base}/public/upload-complete`, {
          method: 'POST',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ uploadKey }),
        })
        return { status: answer.status, body: (await answer.json()) as { fileId: string } }
      }),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 200, 201])
    expect(new Set(answers.map(({ body }) => body.fileId)).size).toBe(1)
  })

  it('wait for another replica no longer than its claim', async () => {
    const headers = newShopper()
    const { uploadKey } = await send(headers, photo)
    await drape.database.query(sql.unsafe`
      update objects set claimed_until = now() + interval '2 seconds' where key = ${objectOf(uploadKey)}`)
    const startedAt = Date.now()
    expect((await complete(headers, uploadKey)).status).toBe(201)
    expect(Date.now() - startedAt).toBeGreaterThan(1000)
  })

  it('are decoded once: repeated requests find neither refused bytes nor work for a worker', async () => {
    const headers = newShopper()
    const refused = await send(headers, photo.subarray(0, photo.length / 2))
    expect(await complete(headers, refused.uploadKey)).toMatchObject({ status: 400, body: { code: 'INVALID_IMAGE' } })
    expect(await storage.exists(objectOf(refused.uploadKey))).toBe(false)
    expect(await complete(headers, refused.uploadKey)).toMatchObject({ status: 404 })

    const { uploadKey } = await send(headers, photo)
    expect((await complete(headers, uploadKey)).status).toBe(201)
    const imageId = `img_${uploadKey.slice(4)}`
    // A second person detection would fill this again.
    await drape.database.query(sql.unsafe`update images set person_detected = null where id = ${imageId}`)
    const { status, body } = await complete(headers, uploadKey)
    expect(status).toBe(200)
    expect(body.fileUrl).toContain('-view.jpg')
    const detected = await drape.database.oneFirst(sql.unsafe`
      select person_detected as found from images where id = ${imageId}`)
    expect(detected).toBeNull()
  })

  it('become a photo by a retry after the API died during the first attempt', async () => {
    const headers = newShopper()
    const { uploadKey } = await send(headers, photo)
    const imageId = `img_${uploadKey.slice(4)}`
    await createImages(drape.database).insert({
      id: imageId,
      accountId: drape.accountId,
      objectKey: `persons/${drape.accountId}/${imageId}.jpg`,
      externalUserId: `${shop.id}:browser:${headers['x-service-anonymous-id']}`,
      bytes: 1,
      width: 1,
      height: 1,
      cropMode: 'auto',
      expiresAt: new Date(Date.now() + 60_000),
    })
    const { status, body } = await complete(headers, uploadKey)
    expect({ status, fileId: body.fileId }).toEqual({ status: 201, fileId: imageId })
    expect((await fetch(body.fileUrl)).status).toBe(200)
  })

  it('get the same response through the proxy of the shop', async () => {
    const headers = newShopper()
    const answer = await post('upload-image', headers, formOf(undefined, { file: photo }))
    expect(answer).toMatchObject({ status: 201, body: { fileId: expect.stringMatching(/^img_/) } })
    expect((await fetch(answer.body.fileUrl)).status).toBe(200)
    const missing = await post('upload-image', headers, formOf(undefined, { photo }))
    expect(missing).toMatchObject({ status: 400, body: { code: 'FILE_REQUIRED' } })
  })

  it('replace an earlier upload to the same link until completion', async () => {
    const headers = newShopper()
    const { uploadUrl, uploadKey } = await send(headers, beginOfPhoto(1000))
    expect(await complete(headers, uploadKey)).toMatchObject({ status: 400, body: { code: 'INVALID_IMAGE' } })
    expect((await put(uploadUrl, photo)).status).toBe(200)
    const { status, body } = await complete(headers, uploadKey)
    expect(status).toBe(201)
    const late = await put(uploadUrl, photo)
    expect(await refusalOf(late)).toEqual({ status: 404, code: 'UPLOAD_NOT_FOUND' })
    expect(await storage.exists(objectOf(uploadKey))).toBe(false)
    expect((await complete(headers, uploadKey)).body.fileId).toBe(body.fileId)
  })

  describe('are refused', () => {
    it.each([
      ['nothing', Buffer.alloc(0), 'INVALID_IMAGE'],
      ['three bytes', Buffer.from([0xff, 0xd8, 0xff]), 'INVALID_IMAGE'],
      ['text', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"></svg>'), 'UNSUPPORTED_IMAGE_TYPE'],
      ['10 MB of zeros', Buffer.alloc(MAX_BYTES), 'UNSUPPORTED_IMAGE_TYPE'],
    ])('when they are %s, whichever way they came', async (_, bytes, code) => {
      const headers = newShopper()
      const { uploadUrl, uploadKey } = await prepare(headers)
      expect(await refusalOf(await put(uploadUrl, bytes))).toEqual({ status: 400, code })
      expect(await storage.exists(objectOf(uploadKey))).toBe(false)
      expect(await complete(headers, uploadKey)).toMatchObject({ status: 404, body: { code: 'UPLOAD_NOT_FOUND' } })
      const form = formOf(undefined, { file: bytes })
      expect(await post('upload-image', headers, form)).toMatchObject({ status: 400, body: { code } })
    })

    it.each([undefined, 5, '', 'upl_', 'upl_../../secret', 'img_0', '%00'])('by the key %j', async (uploadKey) => {
      const { status, body } = await complete(newShopper(), uploadKey)
      expect([400, 404]).toContain(status)
      expect(['VALIDATION_FAILED', 'UPLOAD_NOT_FOUND']).toContain(body.code)
    })

    it('to another shop, before and after completion', async () => {
      const headers = newShopper()
      const { uploadKey } = await send(headers, photo)
      const stranger = newShopper(sister)
      const refused = { status: 404, body: { code: 'UPLOAD_NOT_FOUND' } }
      expect(await complete(stranger, uploadKey)).toMatchObject(refused)
      expect((await complete(headers, uploadKey)).status).toBe(201)
      expect(await complete(stranger, uploadKey)).toMatchObject(refused)
    })
  })

  describe('by their link', () => {
    it('are limited to exactly 10 MB', async () => {
      const headers = newShopper()
      const { uploadKey } = await send(headers, beginOfPhoto(MAX_BYTES))
      expect(await storage.exists(objectOf(uploadKey))).toBe(true)
      const { uploadUrl, uploadKey: larger } = await prepare(headers)
      const refused = await put(uploadUrl, Buffer.alloc(MAX_BYTES + 1, 1))
      expect(await refusalOf(refused)).toEqual({
        status: 413,
        code: 'FILE_TOO_LARGE',
      })
      expect(await storage.exists(objectOf(larger))).toBe(false)
    })

    it('need the exact link before it expires', async () => {
      const { uploadUrl, uploadKey } = await prepare(newShopper())
      const { uploadKey: other } = await prepare(newShopper())
      const past = signUploadLink({ uploadKey, secret: SECRET, expiresAt: Date.now() - 1000 })
      const forged = signUploadLink({ uploadKey, secret: 'another secret altogether', expiresAt: Date.now() + 60_000 })
      const flipped = uploadUrl.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
      const url = new URL(uploadUrl)
      url.searchParams.set('expires', String(Number(url.searchParams.get('expires')) + 60))
      const path = uploadUrl.split('?')[0]
      for (const link of [
        path,
        `${path}?${past}`,
        `${path}?${forged}`,
        flipped,
        url.href,
        uploadUrl.replace(uploadKey, other),
        uploadUrl.replace(uploadKey, 'upl_x'),
      ]) {
        const refused = await put(link, photo)
        expect(await refusalOf(refused)).toEqual({
          status: 403,
          code: 'FORBIDDEN',
        })
      }
      expect(await storage.exists(objectOf(uploadKey))).toBe(false)
      expect((await put(uploadUrl, photo)).status).toBe(200)
    })

    it('work for 15 minutes and at any replica', async () => {
      const { uploadUrl } = await prepare(newShopper())
      const seconds = Number(new URL(uploadUrl).searchParams.get('expires')) - Date.now() / 1000
      expect(seconds).toBeGreaterThan(14 * 60)
      expect(seconds).toBeLessThanOrEqual(15 * 60)
      expect((await put(uploadUrl.replace(drape.api.url, replica.url), photo)).status).toBe(200)
    })
  })

  it('that are abandoned are swept', async () => {
    const { uploadUrl, uploadKey } = await send(newShopper(), photo)
    const left = await drape.database.oneFirst(sql.unsafe`
      select extract(epoch from expires_at - now())::int as n from objects where key = ${objectOf(uploadKey)}`)
    expect(left).toBeLessThanOrEqual(3600)
    const bytes = await drape.database.oneFirst(sql.unsafe`
      select bytes from objects where key = ${objectOf(uploadKey)}`)
    expect(bytes).toBe(photo.length)
    await drape.database.query(sql.unsafe`
      update objects set expires_at = now() - interval '1 second' where key = ${objectOf(uploadKey)}`)
    await sweep({
      retention: createRetention(drape.database),
      storage,
    })
    expect(await storage.exists(objectOf(uploadKey))).toBe(false)
    expect((await put(uploadUrl, photo)).status).toBe(404)
    expect(await storage.exists(objectOf(uploadKey))).toBe(false)
  })

  it('are erased with their shopper, raw bytes too', async () => {
    const headers = newShopper()
    const done = await send(headers, photo)
    const { body } = await complete(headers, done.uploadKey)
    const raw = await send(headers, photo)
    const customer = encodeURIComponent(`${shop.id}:browser:${headers['x-service-anonymous-id']}`)
    expect((await drape.call('DELETE', `/tryon/v1/customers/${customer}`)).status).toBe(204)
    expect(await storage.exists(objectOf(raw.uploadKey))).toBe(false)
    expect((await fetch(body.fileUrl)).status).toBe(404)
    for (const { uploadKey } of [done, raw]) {
      expect(await complete(headers, uploadKey)).toMatchObject({ status: 404, body: { code: 'UPLOAD_NOT_FOUND' } })
    }
    expect((await put(raw.uploadUrl, photo)).status).toBe(404)
  })

  it('expire after the retention of their account', async () => {
    const headers = newShopper()
    const { body } = await post('upload-image', headers, formOf(undefined, { file: photo }))
    const days = await drape.database.oneFirst(sql.unsafe`
      select round(extract(epoch from expires_at - created_at) / 86400)::int as n from images where id = ${body.fileId}`)
    expect(days).toBe(7)
  })

  describe('are limited per five minutes', () => {
    it('of a shopper, both ways together and at all replicas', async () => {
      const headers = newShopper()
      const ask = (i: number) => {
        const base = i % 2 === 0 ? drape.api.url : replica.url
        const isForm = i % 3 === 0
        return fetch(`${base}/public/${isForm ? 'upload-image' : 'prepare-upload'}`, {
          method: 'POST',
          headers,
          ...(isForm && { body: formOf(undefined, { file: Buffer.from('no image at all') }) }),
        })
      }
      const answers = await Promise.all(Array.from({ length: 24 }, (_, i) => ask(i)))
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(14)
      for (const answer of refused) {
        const seconds = Number(answer.headers.get('retry-after'))
        expect(seconds).toBeGreaterThan(0)
        expect(seconds).toBeLessThanOrEqual(300)
        expect(await answer.json()).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', status: 429 })
      }
      await prepare(newShopper())
      await prepare({ ...newShopper(sister), 'x-service-anonymous-id': headers['x-service-anonymous-id'] })
    })

    it('of a link', async () => {
      const { uploadUrl } = await prepare(newShopper())
      const statuses: number[] = []
      for (let i = 0; i < 11; i++) {
        const answer = await put(uploadUrl, beginOfPhoto(100))
        await text(answer.body as never)
        statuses.push(answer.status)
      }
      expect(statuses).toEqual([...Array(10).fill(200), 429])
    })
  })

  it('count towards the quota of the account when their bytes arrive, until the bytes are deleted', async () => {
    const { id: accountId } = await drape.createAccount(0, { storageMegabytes: 2 })
    const small = await createDevelopmentShop({ database: drape.database, accountId }, 'quota.test')
    const links = []
    for (let i = 0; i < 6; i++) {
      const headers = newShopper(small)
      for (let j = 0; j < 9; j++) links.push({ headers, ...(await prepare(headers)) })
    }
    const noise = beginOfPhoto(1_200_000)
    const [first, second] = links
    // Other bytes for the same link replace the first ones.
    for (let i = 0; i < 2; i++) expect((await put(first.uploadUrl, noise)).status).toBe(200)
    expect(await refusalOf(await put(second.uploadUrl, noise))).toEqual({ status: 402, code: 'QUOTA_EXCEEDED' })
    const form = formOf(undefined, { file: photo })
    expect((await post('upload-image', newShopper(small), form)).status).toBe(201)
    const count = () =>
      drape.database.oneFirst(sql.unsafe`
        select coalesce(sum(bytes), 0)::int from objects where account_id = ${accountId} and kind = 'upload'`)
    expect(await count()).toBe(1_200_000)
    expect((await complete(first.headers, first.uploadKey)).status).toBe(400)
    expect(await count()).toBe(0)
  })

  it('of one network address are limited to 100 MB while they are incomplete', async () => {
    const { uploadKey } = await send(newShopper(), photo)
    const setBytes = (bytes: number | null) =>
      drape.database.query(sql.unsafe`update objects set bytes = ${bytes} where key = ${objectOf(uploadKey)}`)
    await setBytes(100 * 1024 * 1024)
    const { uploadUrl } = await prepare(newShopper())
    const refused = await put(uploadUrl, photo)
    expect(refused.headers.get('retry-after')).toBe('60')
    expect(await refusalOf(refused)).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
    // As after completion.
    await setBytes(null)
    expect((await put(uploadUrl, photo)).status).toBe(200)
  })

  it('belong to shops that are looked up again', async () => {
    const { id } = await createDevelopmentShop(drape, 'third.test')
    const { body } = await post('prepare-upload', { 'x-drape-shop': 'THIRD.test' })
    const owner = await drape.database.oneFirst(sql.unsafe`
      select external_user_id from objects where key = ${objectOf(body.uploadKey)}`)
    expect(owner).toMatch(new RegExp(`^${id}:address:`))
  })
})
