import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../api/shared/database/database.ts'
import { formOf, readSample, startDrape } from '../../support/drape.ts'

const DAY_MS = 86_400_000
const URL_OF_SHIRT = 'https://shop.example/shirt.jpg'
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

describe('products', async () => {
  const drape = await startDrape({ credits: 1000 })
  const image = await readSample('persons/down-half-teal.jpg')
  const otherImage = await readSample('persons/akimbo-full.jpg')
  afterAll(() => drape.stop())

  const images = [{ source: { url: URL_OF_SHIRT } }]
  const post = (body: unknown, options = {}) => drape.call('POST', '/tryon/v1/products', { body, ...options })
  const pathOf = (externalId: string) => `/tryon/v1/products/${encodeURIComponent(externalId)}`
  const get = (externalId: string, options = {}) => drape.call('GET', pathOf(externalId), options)
  const remove = (externalId: string, options = {}) => drape.call('DELETE', pathOf(externalId), options)
  const upload = async (key = drape.apiKey) => {
    const body = formOf({}, { file: image })
    return (await drape.call('POST', '/tryon/v1/images/upload', { body, key })).body.imageId as string
  }
  /** A try-on of this product; returns the body of the response. */
  const tryOn = async (product: unknown, key = drape.apiKey) => {
    const body = { products: [product], person: { image: { source: { id: await upload(key) } } } }
    return (await drape.call('POST', '/tryon/v1/try-on', { body, key })).body
  }
  const expire = (externalId: string) =>
    drape.database.query(sql.unsafe`update products set expires_at = now() where external_id = ${externalId}`)

  describe('POST /products', () => {
    it('creates a product without expiry, and returns it completely', async () => {
      const answer = await post({ externalId: 'full', title: 'Shirt', images, metadata: { size: 'M', tags: ['a'] } })
      expect(answer.status).toBe(200)
      expect(answer.body).toEqual({
        externalId: 'full',
        title: 'Shirt',
        description: null,
        images: [{ sourceUrl: URL_OF_SHIRT, order: 0, classifications: null }],
        metadata: { size: 'M', tags: ['a'] },
        validForDays: null,
        lastUsedAt: null,
        expiresAt: null,
        createdAt: expect.stringMatching(TIME),
        updatedAt: expect.stringMatching(TIME),
      })
      expect((await get('full')).body).toEqual(answer.body)
    })

    it('changes only the fields of an update', async () => {
      const first = (await post({ externalId: 'merge', title: 'Old', images, validForDays: 30, metadata: { a: 1 } }))
        .body
      const second = (await post({ externalId: 'merge', description: 'New' })).body
      expect(second).toEqual({ ...first, description: 'New', updatedAt: second.updatedAt })
      expect(second.updatedAt > first.updatedAt).toBe(true)
      const third = (await post({ externalId: 'merge', title: 'Newer', metadata: { b: 2 } })).body
      expect(third).toMatchObject({ title: 'Newer', description: 'New', metadata: { b: 2 }, validForDays: 30 })
    })

    it('accepts the response of GET unchanged', async () => {
      const sent = { externalId: 'echo', validForDays: 20, title: 'Shirt', metadata: { b: 1, a: [1.5, null] } }
      const entries = [
        { source: { fileKey: 'a' }, classifications: { type: 'flat_lay' } },
        ...images,
        { source: { fileKey: 'b' } },
      ]
      const files = { a: image, b: otherImage }
      expect((await post(formOf({ ...sent, images: entries }, files))).status).toBe(200)
      const stateOf = () =>
        drape.database.any(sql.unsafe`
          select products.id, images, images_edition, updated_at, products.expires_at, (select count(*) from objects)
          from products where external_id = 'echo'`)
      const [before, state] = [(await get('echo')).body, await stateOf()]
      const answer = await post(before)
      expect(answer).toMatchObject({ status: 200, body: before })
      expect(answer.headers.get('deprecation')).toBeNull()
      expect((await get('echo')).body).toEqual(before)
      expect(await stateOf()).toEqual(state)
      const turned = (await post({ ...before, images: before.images.toReversed() })).body
      expect(turned.images.map(({ sourceUrl }: { sourceUrl: string }) => sourceUrl)).toEqual(
        before.images.map(({ sourceUrl }: { sourceUrl: string }) => sourceUrl).toReversed(),
      )
      expect(turned.updatedAt > before.updatedAt).toBe(true)
      const foreign = await drape.createAccount(0)
      const unknown = await post({ externalId: 'echo', images: before.images }, { key: foreign.apiKey })
      expect(unknown).toMatchObject({ status: 400, body: { code: 'INVALID_IMAGE_INPUT' } })
    })

    it('keeps the order of 50 images including files, and refuses 51', async () => {
      const urls = Array.from({ length: 50 }, (_, i) => `https://shop.example/${i}.jpg`)
      const { body } = await post({ externalId: 'fifty', images: urls.map((url) => ({ source: { url } })) })
      expect(body.images.map(({ sourceUrl }: { sourceUrl: string }) => sourceUrl)).toEqual(urls)
      const more = [...urls, urls[0]].map((url) => ({ source: { url } }))
      expect(await post({ externalId: 'fifty', images: more })).toMatchObject({ status: 400 })
      const names = Array.from({ length: 50 }, (_, i) => `file-${i}`)
      const form = formOf(
        { externalId: 'files', images: names.map((fileKey) => ({ source: { fileKey } })) },
        Object.fromEntries(names.map((name, i) => [name, i % 2 ? image : otherImage])),
      )
      const sent = await post(form)
      expect(sent.status).toBe(200)
      const stored = sent.body.images.map(({ sourceUrl }: { sourceUrl: string }) => sourceUrl)
      expect(stored).toEqual(names.map((_, i) => stored[i % 2]))
      expect(new Set(stored).size).toBe(2)
    })

    it('replaces the list of images as a whole', async () => {
      const urls = ['https://shop.example/1.jpg', 'https://shop.example/2.jpg', 'https://shop.example/3.jpg']
      const entries = urls.map((url) => ({ source: { url } }))
      await post({ externalId: 'list', images: entries })
      const classifications = { type: 'flat_lay', view: 'front', ours: { depth: 1 } }
      const { body } = await post({ externalId: 'list', images: [{ ...entries[2], classifications }, entries[0]] })
      expect(body.images).toEqual([
        { sourceUrl: urls[2], order: 0, classifications },
        { sourceUrl: urls[0], order: 1, classifications: null },
      ])
    })

    it('counts the lifetime from the call, keeps it if omitted, and removes it with null', async () => {
      const first = (await post({ externalId: 'life', images, validForDays: 365 })).body
      expect(first.validForDays).toBe(365)
      expect(Date.parse(first.expiresAt) - Date.parse(first.createdAt)).toBeCloseTo(365 * DAY_MS, -3)
      const kept = (await post({ externalId: 'life', title: 'x' })).body
      expect(kept).toMatchObject({ validForDays: 365, expiresAt: first.expiresAt })
      expect((await post({ externalId: 'life', validForDays: 1 })).body.validForDays).toBe(1)
      expect((await post({ externalId: 'life', validForDays: null })).body).toMatchObject({
        validForDays: null,
        expiresAt: null,
      })
    })

    it('is refreshed by every generation that uses it', async () => {
      const { expiresAt } = (await post({ externalId: 'used', images, validForDays: 2 })).body
      await tryOn({ externalId: 'used' })
      const used = (await get('used')).body
      expect(used.lastUsedAt).toMatch(TIME)
      expect(Date.parse(used.expiresAt) - Date.parse(used.lastUsedAt)).toBeCloseTo(2 * DAY_MS, -2)
      expect(used.expiresAt > expiresAt).toBe(true)
    })

    it('treats an expired product as absent: an update requires images, and no old field remains', async () => {
      const old = (await post({ externalId: 'gone', title: 'Old', metadata: { a: 1 }, images, validForDays: 5 })).body
      await tryOn({ externalId: 'gone' })
      await expire('gone')
      expect((await get('gone')).body.code).toBe('PRODUCT_NOT_FOUND')
      expect((await post({ externalId: 'gone', title: 'New' })).body.code).toBe('PRODUCT_IMAGES_REQUIRED')
      const anew = (await post({ externalId: 'gone', images })).body
      expect(anew).toMatchObject({ title: null, metadata: null, validForDays: null, lastUsedAt: null, expiresAt: null })
      expect(anew.createdAt > old.createdAt).toBe(true)
    })

    it('accepts files of a multipart body, and returns an opaque, stable name', async () => {
      const data = { externalId: 'files', images: [{ source: { fileKey: 'back' } }, { source: { fileKey: 'front' } }] }
      const first = (await post(formOf(data, { front: image, back: otherImage }))).body
      expect(first.images.map(({ sourceUrl }: { sourceUrl: string }) => sourceUrl)).toEqual([
        expect.stringMatching(/^upload:\/\/\w+$/),
        expect.stringMatching(/^upload:\/\/\w+$/),
      ])
      expect(Object.keys(first.images[0]).sort()).toEqual(['classifications', 'order', 'sourceUrl'])
      const again = (await post(formOf(data, { front: image, back: otherImage }))).body
      expect(again.images).toEqual(first.images)
    })

    it('accepts imageUrls and flat entries as images, and prefers images to imageUrls', async () => {
      const url = 'https://shop.example/flat.jpg'
      const shown = { images: [{ sourceUrl: url, order: 0, classifications: null }] }
      expect((await post({ externalId: 'alias', imageUrls: [url] })).body).toMatchObject(shown)
      expect((await post({ externalId: 'flat', images: [{ url }] })).body).toMatchObject(shown)
      const both = { externalId: 'both', images: [{ source: { url } }], imageUrls: ['https://shop.example/old.jpg'] }
      expect((await post(both)).body).toMatchObject(shown)
    })

    it.each([
      ['no id', { images }, 'EXTERNAL_ID_REQUIRED'],
      ['an empty id', { externalId: '', images }, 'EXTERNAL_ID_REQUIRED'],
      ['a reserved id', { externalId: '_anon_x', images }, 'RESERVED_EXTERNAL_ID'],
      ['no images', { externalId: 'new', title: 'x' }, 'PRODUCT_IMAGES_REQUIRED'],
      ['an empty list of images', { externalId: 'new', images: [] }, 'PRODUCT_IMAGES_REQUIRED'],
      ['an empty list of addresses', { externalId: 'new', imageUrls: [] }, 'PRODUCT_IMAGES_REQUIRED'],
      ['an image without a source', { externalId: 'new', images: [{}] }, 'INVALID_IMAGE_INPUT'],
      ['an image with an empty source', { externalId: 'new', images: [{ source: {} }] }, 'INVALID_IMAGE_INPUT'],
      ['a file that is not there', { externalId: 'new', images: [{ fileKey: 'x' }] }, 'MULTIPART_FILE_NOT_FOUND'],
      ['no object', [], 'VALIDATION_FAILED'],
    ])('refuses %s', async (_, body, code) => {
      const answer = await post(body)
      expect(answer.body).toMatchObject({ code, status: answer.status, message: expect.any(String) })
      expect(answer.status).toBe(code === 'RESERVED_EXTERNAL_ID' ? 409 : 400)
      expect((await get('new')).status).toBe(404)
    })

    it('refuses to remove all images, and names the way to keep them', async () => {
      await post({ externalId: 'emptied', images })
      for (const field of ['images', 'imageUrls']) {
        const { status, body } = await post({ externalId: 'emptied', [field]: [] })
        expect({ status, ...body }).toMatchObject({ status: 400, code: 'PRODUCT_IMAGES_REQUIRED' })
        expect(body.message).toMatch(new RegExp(`^The list ${field} is empty\\. .*leave the list out`))
      }
      expect((await get('emptied')).body.images).toHaveLength(images.length)
    })

    it.each([
      [{ validForDays: 0 }, 'validForDays'],
      [{ validForDays: 366 }, 'validForDays'],
      [{ validForDays: 1.5 }, 'validForDays'],
      [{ validForDays: '7' }, 'validForDays'],
      [{ externalId: 5 }, 'externalId'],
      [{ externalId: '.' }, 'externalId'],
      [{ externalId: '..' }, 'externalId'],
      [{ externalId: 'x'.repeat(256) }, 'externalId'],
      [{ metadata: [] }, 'metadata'],
      [{ images: [{ source: { url: URL_OF_SHIRT, fileKey: 'a' } }] }, 'images[0].source'],
      [{ images: [{ source: { url: 'ftp://a.b/c' } }] }, 'images[0].source.url'],
      [{ images: [{ url: URL_OF_SHIRT, fileKey: 'a' }] }, 'images[0]'],
      [{ images: [{ url: 'x' }] }, 'images[0].url'],
      [{ images: undefined, imageUrls: [URL_OF_SHIRT, 'x'] }, 'imageUrls[1]'],
      [{ images: undefined, imageUrls: URL_OF_SHIRT }, 'imageUrls'],
      [{ images: undefined, imageUrls: Array(51).fill(URL_OF_SHIRT) }, 'imageUrls'],
    ])('refuses %j and names the field', async (changes, path) => {
      const answer = await post({ externalId: 'wrong', images, ...changes })
      expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
      expect(answer.body.details.map((problem: { path: string }) => problem.path)).toEqual([path])
    })

    it('refuses only IDs with exactly the reserved prefix', async () => {
      for (const externalId of ['_ANON_x', ' _anon_x', '_anon', 'x_anon_']) {
        expect((await post({ externalId, images })).status).toBe(200)
        expect((await get(externalId)).body.externalId).toBe(externalId)
      }
    })

    it('stores names with a meaning in JavaScript as data', async () => {
      for (const externalId of ['__proto__', 'constructor', 'toString']) {
        const metadata = '{ "__proto__": { "polluted": 1 }, "constructor": { "prototype": 2 } }'
        const body = `{ "externalId": "${externalId}", "imageUrls": ["${URL_OF_SHIRT}"], "metadata": ${metadata} }`
        expect((await post(body)).status).toBe(200)
        const stored = (await get(externalId)).body
        expect(stored.externalId).toBe(externalId)
        expect(JSON.stringify(stored.metadata)).toBe('{"__proto__":{"polluted":1},"constructor":{"prototype":2}}')
      }
      expect((await get('valueOf')).body.code).toBe('PRODUCT_NOT_FOUND')
    })

    it('creates one product for 20 concurrent equal calls', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => post({ externalId: 'rush', images })))
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200))
      expect(new Set(answers.map(({ body }) => body.createdAt)).size).toBe(1)
      expect(
        await drape.database.oneFirst(sql.unsafe`select count(*) as n from products where external_id = 'rush'`),
      ).toBe(1)
    })
  })

  describe('GET /products', () => {
    const list = async (query: string, key: string) =>
      (await drape.call('GET', `/tryon/v1/products${query}`, { key })).body
    const namesOf = (page: { items: { externalId: string }[] }) => page.items.map(({ externalId }) => externalId)

    it('returns each product once, page by page, whatever is added in the meantime', async () => {
      const { apiKey: key } = await drape.createAccount(0)
      const add = (externalId: string) => post({ externalId, images }, { key })
      for (let i = 0; i < 5; i++) await add(`p${i}`)
      const first = await list('?limit=2', key)
      expect(first).toMatchObject({ hasMore: true, count: 2, nextCursor: expect.any(String) })
      await add('later')
      const second = await list(`?limit=2&cursor=${first.nextCursor}`, key)
      await remove('p2', { key })
      const third = await list(`?limit=2&cursor=${second.nextCursor}`, key)
      expect([first, second, third].flatMap(namesOf)).toEqual(['p4', 'p3', 'p2', 'p1', 'p0'])
      expect(third).toMatchObject({ hasMore: false, count: 1, nextCursor: null })
      expect(namesOf(await list('', key))).toEqual(['later', 'p4', 'p3', 'p1', 'p0'])
    })

    it('returns no cursor after a full last page', async () => {
      const { apiKey: key } = await drape.createAccount(0)
      expect(await list('', key)).toEqual({ items: [], nextCursor: null, hasMore: false, count: 0 })
      for (const externalId of ['a', 'b']) await post({ externalId, images }, { key })
      expect(await list('?limit=2', key)).toMatchObject({ count: 2, hasMore: false, nextCursor: null })
    })

    it('ends a page early for large products, and omits none', async () => {
      const { id, apiKey: key } = await drape.createAccount(0)
      for (let i = 0; i < 5; i++) await post({ externalId: `large-${i}`, images }, { key })
      await drape.database.query(sql.unsafe`
        update products set metadata = json_build_object('note', repeat('a', 900000)) where account_id = ${id}`)
      const first = await list('', key)
      expect(first).toMatchObject({ hasMore: true, count: 3 })
      const second = await list(`?cursor=${first.nextCursor}`, key)
      expect(second).toMatchObject({ hasMore: false, count: 2 })
      expect([first, second].flatMap(namesOf)).toEqual([4, 3, 2, 1, 0].map((i) => `large-${i}`))
    })

    it('omits one-shot and expired products, and those of other accounts', async () => {
      const { apiKey: key } = await drape.createAccount(9)
      await post({ externalId: 'stays', images }, { key })
      await post({ externalId: 'ends-now', images, validForDays: 1 }, { key })
      await tryOn({ externalId: 'inline', images }, key)
      expect((await tryOn({ images }, key)).productExternalId).toMatch(/^_anon_/)
      await expire('ends-now')
      expect(namesOf(await list('', key))).toEqual(['inline', 'stays'])
    })

    it.each(['0', '201', '-1', '1.5', 'ten', '', '1e2', '1&limit=2'])('refuses limit=%s', async (limit) => {
      const body = await list(`?limit=${limit}`, drape.apiKey)
      expect(body).toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path: 'limit' }] })
    })

    it('accepts a limit from 1 to 200', async () => {
      expect((await list('?limit=1', drape.apiKey)).count).toBe(1)
      expect((await list('?limit=200', drape.apiKey)).count).toBeGreaterThan(10)
    })

    it('refuses a forged cursor, and that of another account', async () => {
      const { nextCursor } = await list('?limit=1', drape.apiKey)
      const other = await drape.createAccount(0)
      for (const [cursor, key] of [
        [nextCursor, other.apiKey],
        [`${nextCursor}A`, drape.apiKey],
        ['null', drape.apiKey],
        ['', drape.apiKey],
        [`${nextCursor}&cursor=${nextCursor}`, drape.apiKey],
      ]) {
        expect(await list(`?cursor=${cursor}`, key)).toMatchObject({
          code: 'VALIDATION_FAILED',
          status: 400,
          details: [{ path: 'cursor' }],
        })
      }
    })
  })

  describe('one product', () => {
    it.each(['a/b', 'a/stats', '../x', 'ümlaut 漢字 👕', '100%', 'a?b#c', 'gid://shop/Product/1', 'a+b c', 'stats'])(
      'is found and deleted under the ID %s',
      async (externalId) => {
        await post({ externalId, images })
        expect((await get(externalId)).body.externalId).toBe(externalId)
        expect((await drape.call('GET', `${pathOf(externalId)}/stats`)).status).toBe(200)
        expect(await remove(externalId)).toMatchObject({ status: 200, body: { deleted: true } })
        expect(await get(externalId)).toMatchObject({ status: 404, body: { code: 'PRODUCT_NOT_FOUND' } })
      },
    )

    it('and a customer have IDs that a URL can name', async () => {
      const person = { image: { source: { id: 'img_1' } } }
      for (const id of ['.', '..']) {
        const refusedField = async (path: string, body: unknown) => {
          const answer = await drape.call('POST', `/tryon/v1/${path}`, { body })
          expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED' } })
          return answer.body.details
        }
        const named = (path: string) => [{ path, message: expect.stringContaining('no URL can contain') }]
        const products = [{ externalId: id, images }]
        expect(await refusedField('try-on', { products, person })).toEqual(named('products[0].externalId'))
        for (const field of ['externalUserId', 'customerId']) {
          const call = { products: [{ images }], person, [field]: id }
          expect(await refusedField('try-on', call)).toEqual(named(field))
          const form = formOf(undefined, { file: image })
          form.set(field, id)
          expect(await refusedField('images/upload', form)).toEqual(named(field))
        }
      }
      for (const id of ['...', '.a', ' ']) expect((await post({ externalId: id, images })).status).toBe(200)
    })

    it('is not found under an invalid ID', async () => {
      const answer = await drape.call('GET', `/tryon/v1/products/${'x'.repeat(5000)}`)
      expect(answer).toMatchObject({ status: 404, body: { code: 'PRODUCT_NOT_FOUND' } })
      for (const path of ['products/a%00b', 'products/%00/stats', 'generations/%00']) {
        expect((await drape.call('GET', `/tryon/v1/${path}`)).status).toBe(404)
      }
    })

    it('of a one-shot call can be read, counted and deleted by its account, and is forbidden to others', async () => {
      const { productExternalId } = await tryOn({ images })
      const other = await drape.createAccount(1)
      for (const [method, path] of [
        ['GET', ''],
        ['GET', '/stats'],
        ['DELETE', ''],
      ]) {
        const foreign = await drape.call(method, `${pathOf(productExternalId)}${path}`, { key: other.apiKey })
        expect(foreign).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
      }
      const own = await get(productExternalId)
      expect(own.body).toMatchObject({ externalId: productExternalId, validForDays: 7 })
      expect((await drape.call('GET', `${pathOf(productExternalId)}/stats`)).body.totalGenerations).toBe(1)
      expect((await tryOn({ externalId: productExternalId })).productExternalId).toBe(productExternalId)
      expect((await remove(productExternalId)).status).toBe(200)
      expect((await get(productExternalId)).status).toBe(404)
    })

    it('with an ID of the caller is unknown to other accounts, which can use the same ID', async () => {
      await post({ externalId: 'private', title: 'Mine', images })
      const other = await drape.createAccount(0)
      for (const ask of [get, remove]) {
        expect(await ask('private', { key: other.apiKey })).toMatchObject({
          status: 404,
          body: { code: 'PRODUCT_NOT_FOUND' },
        })
      }
      await post({ externalId: 'private', title: 'Theirs', images }, { key: other.apiKey })
      await remove('private', { key: other.apiKey })
      expect((await get('private')).body.title).toBe('Mine')
    })

    it('leaves its snapshot in generations when deleted', async () => {
      await post({ externalId: 'snapshot', title: 'As it was', images })
      const { generationId } = await tryOn({ externalId: 'snapshot' })
      await remove('snapshot')
      expect((await remove('snapshot')).body.code).toBe('PRODUCT_NOT_FOUND')
      expect((await drape.call('GET', `/tryon/v1/generations/${generationId}`)).status).toBe(200)
      const snapshot = await drape.database.oneFirst(
        sql.unsafe`select snapshot from generations where id = ${generationId}`,
      )
      expect(snapshot).toMatchObject({ externalId: 'snapshot', title: 'As it was' })
    })

    it('adds little to the database per generation, however large it is', async () => {
      await post({ externalId: 'large', title: 'Large', images: Array(10).fill(images[0]) })
      // Stored before metadata and classifications had a limit.
      await drape.database.query(sql.unsafe`
        update products set metadata = json_build_object('text', repeat(md5('a'), 30000)),
          images = jsonb_set(images, '{0,classifications}', jsonb_build_object('text', repeat(md5('b'), 30000)))
        where external_id = 'large'`)
      const { generationId, status } = await tryOn({ externalId: 'large' })
      expect(status).toBe('PENDING')
      const bytes = await drape.database.oneFirst(sql.unsafe`
        select octet_length(snapshot::text)::int as n from generations where id = ${generationId}`)
      expect(bytes).toBeLessThan(500)
      expect((await get('large')).body.metadata.text).toHaveLength(960_000)
      expect((await post({ externalId: 'large', title: 'Still large' })).status).toBe(200)
    })

    it('accepts metadata up to 64 KB and classifications up to 4 KB', async () => {
      const text = (kilobytes: number) => 'é'.repeat(kilobytes * 512 - 10)
      const fits = { metadata: { text: text(64) }, images: [{ ...images[0], classifications: { text: text(4) } }] }
      expect((await post({ externalId: 'fits', ...fits })).status).toBe(200)
      const large = { metadata: { text: text(65) }, images: [{ ...images[0], classifications: { text: text(5) } }] }
      const refused = {
        status: 400,
        body: {
          code: 'VALIDATION_FAILED',
          details: [
            { path: 'images[0].classifications', message: 'must have at most 4 KB as JSON' },
            { path: 'metadata', message: 'must have at most 64 KB as JSON' },
          ],
        },
      }
      expect(await post({ externalId: 'too-large', ...large })).toMatchObject(refused)
      const body = { products: [large], person: { image: { source: { id: 'img_x' } } } }
      expect(await drape.call('POST', '/tryon/v1/try-on', { body })).toMatchObject({
        status: 400,
        body: { code: 'VALIDATION_FAILED' },
      })
    })

    it('has no PATCH route', async () => {
      await post({ externalId: 'fixed', title: 'Old', images })
      for (const key of [drape.apiKey, 'sk_wrong', null]) {
        const answer = await drape.call('PATCH', pathOf('fixed'), { body: { title: 'New' }, key })
        expect(answer).toMatchObject({ status: 404, body: { code: 'ROUTE_NOT_FOUND' } })
      }
      const put = await drape.call('PUT', pathOf('fixed'), { body: { title: 'New' } })
      expect(put).toMatchObject({ status: 405, body: { code: 'METHOD_NOT_ALLOWED' } })
      expect(put.headers.get('allow')).toBe('HEAD, GET, DELETE')
      expect((await drape.call('PATCH', '/tryon/v1/products')).status).toBe(405)
      expect((await get('fixed')).body.title).toBe('Old')
    })
  })

  describe('GET /products/:externalId/stats', () => {
    const stats = async (externalId: string, query = '') =>
      (await drape.call('GET', `${pathOf(externalId)}/stats${query}`)).body

    it('counts generations by outcome, with the mean time of completed generations', async () => {
      await post({ externalId: 'counted', images })
      expect(await stats('counted')).toEqual({
        totalGenerations: 0,
        completedGenerations: 0,
        failedGenerations: 0,
        avgGenerationTimeMs: 0,
      })
      const ids: string[] = []
      for (let i = 0; i < 5; i++) ids.push((await tryOn({ externalId: 'counted' })).generationId)
      await end(ids[0], 'COMPLETED', '2026-05-12T10:00:00.000Z', 1000)
      await end(ids[1], 'COMPLETED', '2026-05-12T11:00:00.000Z', 2001)
      await end(ids[2], 'FAILED', '2026-05-12T12:00:00.000Z', 9000)
      await end(ids[3], 'COMPLETED', '2026-05-13T00:00:00.000Z', 30)
      expect(await stats('counted')).toEqual({
        totalGenerations: 5,
        completedGenerations: 3,
        failedGenerations: 1,
        avgGenerationTimeMs: 1010,
      })
      expect(await stats('counted', '?from=2026-05-12T10:00:00Z&to=2026-05-12T13:00:00%2B02:00')).toEqual({
        totalGenerations: 2,
        completedGenerations: 2,
        failedGenerations: 0,
        avgGenerationTimeMs: 1501,
      })
      expect((await stats('counted', '?to=2026-05-12')).totalGenerations).toBe(3)
      expect((await stats('counted', '?from=2026-05-12T10:00:00.001Z')).totalGenerations).toBe(4)
      expect((await stats('counted', '?from=0000-01-01T00:00:00%2B14:00&to=9999-12-31')).totalGenerations).toBe(5)
    })

    it('remains after the deletion of the product', async () => {
      await post({ externalId: 'returning', images })
      await tryOn({ externalId: 'returning' })
      await remove('returning')
      expect((await stats('returning')).code).toBe('PRODUCT_NOT_FOUND')
      await tryOn({ externalId: 'returning', images })
      expect((await stats('returning')).totalGenerations).toBe(2)
    })

    it('refuses an invalid window', async () => {
      expect(await stats('counted', '?from=2026-05-13&to=2026-05-12')).toMatchObject({
        code: 'VALIDATION_FAILED',
        details: [{ path: 'from' }],
      })
      expect(await stats('counted', '?to=2016-12-31T23:59:60Z')).toMatchObject({
        code: 'VALIDATION_FAILED',
        details: [{ path: 'to' }],
      })
    })

    function end(id: string, status: string, createdAt: string, ms: number) {
      return drape.database.query(sql.unsafe`
        update generations set status = ${status}, created_at = ${createdAt}::timestamptz,
          finished_at = ${createdAt}::timestamptz + make_interval(secs => ${ms / 1000}::float8)
        where id = ${id}`)
    }
  })
})
