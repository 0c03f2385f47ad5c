import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { afterAll, describe, expect, it } from 'vitest'
import { sql, withinTransaction } from '../../../../api/shared/database/database.ts'
import { createGenerations } from '../../../../api/shared/generations/generations.store.ts'
import { hashImage } from '../../../../api/shared/image/image-hash.ts'
import { createObjects } from '../../../../api/shared/storage/objects.store.ts'
import { createRemovalCandidates } from '../../../../api/trust/removals/removal-candidates.store.ts'
import { createRemovals } from '../../../../api/trust/removals/removals.store.ts'
import { startDrape } from '../../../support/drape.ts'
import { until } from '../../../support/until.ts'

const photo = readFileSync(new URL('../../../fixtures/persons/apose-full.jpg', import.meta.url))
const stranger = readFileSync(new URL('../../../fixtures/persons/crossed-half.jpg', import.meta.url))

describe('a request to remove an image', async () => {
  let addresses = 0

  const drape = await startDrape({ env: { PROXY_HOPS: '1' } })
  const { imageId } = await drape.upload(photo)
  afterAll(() => drape.stop())

  const send = async (
    file: Uint8Array,
    { accept = 'application/json', address = `203.0.113.${addresses++}`, ...fields }: Record<string, string> = {},
  ) => {
    const form = new FormData()
    const given = { email: 'ada@example.com', reason: 'This is me.', ...fields }
    for (const [name, value] of Object.entries(given)) form.set(name, value)
    form.set('file', new Blob([new Uint8Array(file)]), 'x')
    const headers = { accept, 'x-forwarded-for': address }
    const answer = await fetch(`${drape.api.url}/removal`, { method: 'POST', body: form, headers })
    const text = await answer.text()
    return { status: answer.status, text, body: accept === 'application/json' ? JSON.parse(text) : null }
  }
  const assign = (id: string, imageIds: readonly string[], isCut = false) =>
    drape.database.transaction((transaction) =>
      createRemovalCandidates(withinTransaction(drape.database, transaction)).assign(id, imageIds, { isCut }),
    )
  const stateOf = async (reference: string) => {
    const response = await fetch(`${drape.api.url}/removal/${reference}`, { headers: { accept: 'application/json' } })
    return (await response.json()) as {
      readonly state: string
      readonly answer: string | null
      readonly decidedAt: string | null
    }
  }

  it('gets the same response whether or not a copy is stored, and stores no image', async () => {
    const before = await drape.database.oneFirst(sql.unsafe`select count(*)::int from objects`)
    const [mine, other] = [await send(photo), await send(stranger)]
    expect([mine.status, other.status]).toEqual([200, 200])
    const shape = {
      reference: expect.stringMatching(/^[0-9A-Za-z]{22}$/),
      state: 'OPEN',
      answer: null,
      decidedAt: null,
    }
    expect(mine.body).toMatchObject(shape)
    expect(other.body).toMatchObject(shape)
    expect(Object.keys(mine.body)).toEqual(Object.keys(other.body))
    expect(await drape.database.oneFirst(sql.unsafe`select count(*)::int from objects`)).toBe(before)
    const { dueAt, createdAt } = mine.body
    expect(Date.parse(dueAt) - Date.parse(createdAt)).toBe(48 * 3_600_000)
    expect(JSON.stringify(await drape.database.any(sql.unsafe`select * from removal_requests`))).not.toContain(
      mine.body.reference,
    )
  })

  it('is stored once for a form that is sent twice, and its number is refused for another request', async () => {
    const reference = 'A'.repeat(22)
    expect((await send(photo, { reference })).status).toBe(200)
    expect((await send(photo, { reference })).status).toBe(200)
    expect((await send(photo, { reference, email: 'eve@example.com' })).status).toBe(400)
    const hits = await drape.database.oneFirst(
      sql.unsafe`select count(*)::int from removal_requests where reference = sha256(${reference}::text::bytea)`,
    )
    expect(hits).toBe(1)
  })

  it('is refused without an image, without image detail, and above the limits', async () => {
    const flat = await sharp({ create: { width: 300, height: 300, channels: 3, background: '#a98' } })
      .png()
      .toBuffer()
    expect((await send(flat)).body.code).toBe('INVALID_IMAGE')
    expect((await send(Buffer.from('some text '.repeat(20)))).body.code).toBe('UNSUPPORTED_IMAGE_TYPE')
    const bomb = await sharp({
      create: { width: 11_000, height: 11_000, channels: 3, background: '#000' },
      limitInputPixels: false,
    })
      .png()
      .toBuffer()
    expect((await send(bomb)).body.code).toBe('INVALID_IMAGE')
    for (let call = 0; call < 5; call++) await send(flat, { address: '198.51.100.9' })
    expect((await send(flat, { address: '198.51.100.9' })).status).toBe(429)
  })

  it('has pages for the form and for the state, and returns 404 for other numbers', async () => {
    const accept = 'text/html,*/*;q=0.8'
    const page = await fetch(`${drape.api.url}/removal`, { headers: { accept } })
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await page.text()).toMatch(/name="reference" value="[0-9A-Za-z]{22}"/)
    expect((await send(photo, { accept })).text).toContain('Your request was received')
    expect((await fetch(`${drape.api.url}/removal/${'b'.repeat(22)}`)).status).toBe(404)
  })

  it('shows a refused form again, with its entries and in the language of the visitor', async () => {
    const reason = 'Das bin <ich>.'
    const { status, text } = await send(Buffer.from('no image'), { accept: 'text/html,*/*;q=0.8', reason })
    expect(status).toBe(400)
    for (const part of ['value="ada@example.com"', 'Das bin &#60;ich&#62;.</textarea>', 'role="alert"'])
      expect(text).toContain(part)
    for (const [lang, start] of [
      ['de', 'lang="de"'],
      ['ar', 'lang="ar" dir="rtl"'],
    ]) {
      const page = await fetch(`${drape.api.url}/removal?lang=${lang}`, { headers: { accept: 'text/html' } })
      expect(await page.text()).toContain(start)
    }
  })

  it('finds a reduced and mirrored copy, and erases it with everything made from it', async () => {
    const copy = await sharp(photo).resize(300).flop().webp({ quality: 50 }).toBuffer()
    const { body } = await send(copy, { email: 'copy@example.com' })
    const { database } = drape
    const removals = createRemovals(database)
    const request = (await removals.listing.list({}, { limit: 100 })).find(({ email }) => email === 'copy@example.com')
    const { found } = await createRemovalCandidates(database).find(request?.hashes ?? [])
    expect(found.map(({ id }) => id)).toEqual([imageId])
    const generationId = await drape.tryOn(
      {
        person: { image: { source: { id: imageId } } },
        products: [{ images: [{ source: { fileKey: 'tee' } }] }],
        output: { engine: 'mock' },
      },
      { tee: photo },
    )
    expect(await assign(request?.id ?? '', [imageId])).toBe(true)
    expect(await assign(request?.id ?? '', [imageId])).toBe(false)
    await until(async () => (await removals.find(request?.id ?? ''))?.state === 'ERASED')
    expect((await stateOf(body.reference)).state).toBe('ERASED')
    expect(await database.any(sql.unsafe`select from images where id = ${imageId}`)).toHaveLength(0)
    expect(
      await database.any(sql.unsafe`select from image_hashes where object_key like ${`%${imageId}%`}`),
    ).toHaveLength(0)
    const generation = await database.one(
      sql.unsafe`select status, image_id from generations where id = ${generationId}`,
    )
    expect(generation).toEqual({ status: 'FAILED', image_id: null })
    const [erasure] = await removals.findErasures(request?.id ?? '')
    const receipt = await drape.call('GET', `/tryon/v1/erasures/${erasure.erasureId}`)
    expect(receipt.body.status).toBe('PENDING')
    expect((await removals.find(request?.id ?? ''))?.hashes).toEqual([])
  })

  it('is open again while more copies are stored than the operator saw', async () => {
    const { database } = drape
    for (let i = 0; i < 26; i++) await drape.upload(stranger)
    const { body } = await send(stranger, { email: 'many@example.com' })
    const removals = createRemovals(database)
    const id =
      (await removals.listing.list({}, { limit: 100 })).find(({ email }) => email === 'many@example.com')?.id ?? ''
    const decide = async () => {
      const candidates = createRemovalCandidates(database)
      const { found, isCut } = await candidates.find((await removals.find(id))?.hashes ?? [])
      const ids = found.map((candidate) => candidate.id)
      expect(await assign(id, ids, isCut)).toBe(true)
      await until(async () => (await removals.find(id))?.state !== 'ERASING')
      return [found.length, await stateOf(body.reference)]
    }
    expect(await decide()).toMatchObject([24, { state: 'OPEN', decidedAt: null }])
    expect(await decide()).toMatchObject([2, { state: 'ERASED' }])
    expect(await database.oneFirst(sql.unsafe`select count(*)::int from images`)).toBe(0)
  })

  it('cannot be granted after the images are erased, and says so', async () => {
    const { body } = await send(photo, { email: 'late@example.com' })
    const removals = createRemovals(drape.database)
    const request = (await removals.listing.list({}, { limit: 100 })).find(({ email }) => email === 'late@example.com')
    await expect(assign(request?.id ?? '', [imageId])).rejects.toThrow('in the meantime')
    await removals.decline(request?.id ?? '', 'Nothing was found.')
    expect(await stateOf(body.reference)).toMatchObject({ state: 'DECLINED', answer: 'Nothing was found.' })
  })

  it('finds a result whose photo no longer exists', async () => {
    const { database } = drape
    const id = await drape.tryOn(
      {
        person: { image: { source: { fileKey: 'me' } } },
        products: [{ images: [{ source: { fileKey: 'me' } }] }],
        output: { engine: 'mock' },
      },
      { me: stranger },
    )
    await createGenerations(database).start({ id, attempt: 1, worker: 'w' })
    const hash = (await hashImage(stranger))?.hash ?? ''
    const key = `results/${drape.accountId}/of-stranger.jpg`
    await createObjects(database).insertResult({ key, bytes: 1, hash, id, attempt: 1 })
    await database.query(sql.unsafe`
      with gone as (delete from images where id = (select image_id from generations where id = ${id}) returning object_key)
      delete from objects using gone where key = object_key`)
    const { found } = await createRemovalCandidates(database).find([hash])
    expect(found).toMatchObject([{ key, kind: 'result' }])
  })
})
