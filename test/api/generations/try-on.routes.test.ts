import { readdir } from 'node:fs/promises'
import sharp from 'sharp'
import { v7 as uuidv7 } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { type Drape, formOf, readSample, startDrape } from '../../support/drape.ts'

const URL_OF_SHIRT = 'https://shop.example/shirt.jpg'

describe('POST /try-on', () => {
  let drape: Drape
  let image: Buffer
  let imageId: string

  beforeAll(async () => {
    drape = await startDrape({ credits: 1000 })
    image = await readSample('persons/down-half-teal.jpg')
    const uploaded = await upload({})
    imageId = uploaded.body.imageId
  })
  afterAll(() => drape.stop())

  const products = [{ images: [{ source: { url: URL_OF_SHIRT } }] }]
  const person = () => ({ image: { source: { id: imageId } } })
  const post = (body: unknown, options = {}) => drape.call('POST', '/tryon/v1/try-on', { body, ...options })
  const upload = (fields: Record<string, string>) => {
    const form = formOf(undefined, { file: image })
    for (const [name, text] of Object.entries(fields)) form.set(name, text)
    return drape.call('POST', '/tryon/v1/images/upload', { body: form })
  }
  const recordOf = (generationId: string) =>
    drape.database.one(sql.unsafe`
      select external_user_id as "externalUserId", options->'watermark' as watermark, image_id as "imageId",
        round(extract(epoch from images_expire_at - created_at) / 86400)::int as days, snapshot->'images' as images
      from generations where id = ${generationId}`)
  const accepted = async (body: unknown) => {
    const answer = await post(body)
    expect(answer).toMatchObject({ status: 201, body: { status: 'PENDING' } })
    return recordOf(answer.body.generationId)
  }
  /** The paths in `details` of the response to an invalid body. */
  const problemsOf = async (body: unknown) => {
    const answer = await post(body)
    expect(answer).toMatchObject({ status: 400, body: { code: 'VALIDATION_FAILED', status: 400 } })
    return answer.body.details.map(({ path, message }: { path: string; message: string }) => `${path} ${message}`)
  }

  it('ignores unknown fields, even with names of internal fields', async () => {
    const product = { ...products[0], id: 'mine', anonymous: false, accountId: 'acc_other', images_edition: 7 }
    const answer = await post({ products: [product], person: person(), id: 'gen_mine', cost: -5 })
    expect(answer).toMatchObject({ status: 201, body: { productExternalId: expect.stringMatching(/^_anon_/) } })
    const row = await drape.database.one(sql.unsafe`
      select id <> 'mine' as named, anonymous, account_id = ${drape.accountId} as owned from products
      where external_id = ${answer.body.productExternalId}`)
    expect(row).toEqual({ named: true, anonymous: true, owned: true })
  })

  describe('the lifetime of a result of a photo by ID', () => {
    const lives = async (fields: Record<string, string>, output = {}) => {
      const { imageId: id } = (await upload(fields)).body
      // Half a day of the photo's life is over.
      await drape.database.query(
        sql.unsafe`update images set expires_at = expires_at - interval '12 hours' where id = ${id}`,
      )
      const { body } = await post({ products, person: { image: { source: { id } } }, output })
      return drape.database.one(sql.unsafe`
        select round(extract(epoch from images_expire_at - created_at) / 3600)::int as hours from generations
        where id = ${body.generationId}`)
    }
    const setAccount = (retentionDays: number, resultDays: number | null) =>
      createAccounts(drape.database).update(drape.accountId, { retentionDays, settings: { resultDays } })

    it('is limited to that of the photo, whatever the call says', async () => {
      expect(await lives({ keepForDays: '1' })).toEqual({ hours: 12 })
      expect(await lives({ keepForDays: '1' }, { keepForDays: 7 })).toEqual({ hours: 12 })
      expect(await lives({})).toEqual({ hours: 6 * 24 + 12 })
    })

    it('is that of the account, except for a photo with a lifetime from its upload', async () => {
      await setAccount(7, 30)
      expect(await lives({})).toEqual({ hours: 30 * 24 })
      expect(await lives({ keepForDays: '1' })).toEqual({ hours: 12 })
      await setAccount(7, null)
    })

    it('is at most that of the account, 1 to 90 days', async () => {
      await expect(setAccount(91, null)).rejects.toThrow()
      await expect(setAccount(0, null)).rejects.toThrow()
    })
  })

  it('is equivalent in the current and in every older format', async () => {
    const images = [{ sourceUrl: URL_OF_SHIRT, order: 0 }]
    const meant = { externalUserId: 'user-1', watermark: false, imageId, images }
    const flat = [{ url: URL_OF_SHIRT }]
    for (const body of [
      { products, person: person(), externalUserId: 'user-1', output: { watermark: false } },
      { products, customer: { source: { id: imageId } }, customerId: 'user-1', useWatermark: false },
      { products: [{ images: flat }], customer: { id: imageId }, customerId: 'user-1', useWatermark: false },
      { product: { images: flat }, customer: { id: imageId }, customerId: 'user-1', useWatermark: false },
      { product: { images: flat }, person: person(), customerId: 'user-1', output: { watermark: false } },
    ]) {
      expect(await accepted(body)).toMatchObject(meant)
    }
  })

  it('accepts files in older formats, and retentionDays', async () => {
    const data = { product: { images: [{ fileKey: 'shirt' }] }, customer: { fileKey: 'me' }, retentionDays: 3 }
    const record = await accepted(formOf(data, { shirt: image, me: image }))
    expect(record).toMatchObject({ days: 3, images: [{ sourceUrl: expect.stringMatching(/^upload:\/\//) }] })
  })

  it('prefers the current format if both are sent', async () => {
    const record = await accepted({
      products,
      product: { externalId: 'nothing' },
      person: person(),
      externalUserId: 'new',
      customerId: 'old',
      output: { watermark: true },
      useWatermark: false,
    })
    expect(record).toMatchObject({ externalUserId: 'new', watermark: true, imageId })
  })

  it('reports problems by the field names of the caller', async () => {
    expect(await problemsOf({ products, customer: { source: { url: 'x' } } })).toEqual([
      'customer.source.url must be an http or https address',
    ])
    expect(await problemsOf({ products, customer: { id: 'a', url: 'https://a.b/c' } })).toEqual([
      'customer must have exactly one of id, url and fileKey',
    ])
    expect(await problemsOf({ products, customer: { imageId: 'a' } })).toEqual([
      'customer.imageId is not one of id, url and fileKey',
    ])
    expect(await problemsOf({ products, customer: 'img_1' })).toEqual(['customer must be an object'])
    expect(await problemsOf({ products, customer: { id: 'img_gone' } })).toEqual([
      'customer.id does not exist or has expired',
    ])
    expect(await problemsOf({ products, person: { image: { source: { id: 'img_gone' } } } })).toEqual([
      'person.image.source.id does not exist or has expired',
    ])
    const old = {
      product: { externalId: 5, images: [{ url: 'x' }, { url: URL_OF_SHIRT, fileKey: 'a' }], validForDays: 366 },
      customer: { id: '' },
      customerId: '',
      useWatermark: 'no',
      retentionDays: 2,
    }
    expect((await problemsOf(old)).sort()).toEqual([
      'customer.id must not be empty',
      'customerId must not be empty',
      'product.externalId must be a string other than . and .., which no URL can contain',
      'product.images[0].url must be an http or https address, or the upload:// name of a stored image',
      'product.images[1] must have exactly one of url and fileKey',
      'product.validForDays must be a whole number from 1 to 365 or null',
      'retentionDays must be one of 1, 3, 7',
      'useWatermark must be true or false',
    ])
  })

  it.each([
    [{ products: [] }, 'products must have exactly 1 item'],
    [{ products: [products[0], products[0]] }, 'products must have exactly 1 item'],
    [{ products: undefined }, 'products is required'],
    [{ person: {} }, 'person.image is required'],
    [{ person: { image: { source: {} } } }, 'person.image.source must have exactly one of id, url and fileKey'],
    [
      { person: { image: { source: { id: 'a', url: 'https://a.b/c' } } } },
      'person.image.source must have exactly one of id, url and fileKey',
    ],
    [{ output: { keepForDays: 2 } }, 'output.keepForDays must be one of 1, 3, 7'],
    [{ output: { keepForDays: '3' } }, 'output.keepForDays must be one of 1, 3, 7'],
    [{ output: { deadlineSeconds: 4 } }, 'output.deadlineSeconds must be a whole number from 5 to 3600'],
    [{ output: 'small' }, 'output must be an object'],
    [{ priority: 'high' }, 'priority must be one of "interactive", "batch"'],
  ])('refuses %j with the message: %s', async (changes, problem) => {
    expect(await problemsOf({ products, person: person(), ...changes })).toEqual([problem])
  })

  it.each([0, 366, 1.5, '7', true])('refuses a validForDays of %j', async (validForDays) => {
    const inline = [{ ...products[0], externalId: 'lifetime', validForDays }]
    expect(await problemsOf({ products: inline, person: person() })).toEqual([
      'products[0].validForDays must be a whole number from 1 to 365 or null',
    ])
  })

  it.each(['1', '365', '7.0', 'null'])('accepts a validForDays of %s', async (days) => {
    const inline = { externalId: `for-${days}`, images: products[0].images, validForDays: JSON.parse(days) }
    await accepted({ products: [inline], person: person() })
    const stored = await drape.call('GET', `/tryon/v1/products/for-${days}`)
    expect(stored.body.validForDays).toBe(JSON.parse(days))
  })

  it('accepts a keepForDays of 7.0', async () => {
    const data = `{ "products": ${JSON.stringify(products)}, "person": { "image": { "source": { "fileKey": "me" } } }, "output": { "keepForDays": 7.0 } }`
    const form = formOf(undefined, { me: image })
    form.set('data', data)
    expect(await accepted(form)).toMatchObject({ days: 7 })
  })

  it('requires a photo in every format', async () => {
    for (const body of [{ products }, { product: products[0] }, { products, person: null, customer: null }]) {
      expect(await post(body)).toMatchObject({ status: 400, body: { code: 'CUSTOMER_IMAGE_REQUIRED' } })
    }
  })

  describe('IDs', () => {
    it.each([
      ['_anon_x with images', { externalId: '_anon_x', images: products[0].images }],
      ['a server-made one with a title', { externalId: `_anon_${uuidv7()}`, title: 'x' }],
    ])('that are reserved are refused: %s', async (_, product) => {
      for (const body of [{ products: [product] }, { product }]) {
        expect(await post({ ...body, person: person() })).toMatchObject({
          status: 409,
          body: { code: 'RESERVED_EXTERNAL_ID', status: 409 },
        })
      }
    })

    it('that only resemble reserved IDs are accepted', async () => {
      for (const externalId of ['_ANON_x', ' _anon_x', '__proto__', 'constructor']) {
        const answer = await post({ products: [{ ...products[0], externalId }], person: person() })
        expect(answer).toMatchObject({ status: 201, body: { productExternalId: externalId } })
        expect((await post({ products: [{ externalId }], person: person() })).status).toBe(201)
      }
    })

    it('generated by the server are accepted as a reference, whatever unknown fields are sent', async () => {
      const { productExternalId: externalId } = (await post({ products, person: person() })).body
      const again = await post({ products: [{ externalId, unknown: 1 }], person: person() })
      expect(again).toMatchObject({ status: 201, body: { productExternalId: externalId } })
      for (const missing of [`_anon_${uuidv7()}`, '_anon_x']) {
        const unknown = await post({ products: [{ externalId: missing }], person: person() })
        expect(unknown, missing).toMatchObject({ status: 404, body: { code: 'PRODUCT_NOT_FOUND' } })
      }
    })

    it('generated for another account are forbidden', async () => {
      const { productExternalId: externalId } = (await post({ products, person: person() })).body
      const other = await drape.createAccount(5)
      const body = { products: [{ externalId }], person: { image: { source: { fileKey: 'me' } } } }
      const answer = await post(formOf(body, { me: image }), { key: other.apiKey })
      expect(answer).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    })
  })

  describe('a count of results', () => {
    const withCount = (count: unknown, output: object = {}) => ({
      products,
      person: person(),
      output: { count, ...output },
    })

    it('is refused for an engine that draws the same from every seed, with those that do not', async () => {
      const answer = await post(withCount(2, { engine: 'warp' }))
      expect(answer).toMatchObject({
        status: 400,
        body: {
          code: 'VALIDATION_FAILED',
          message: expect.stringMatching(/at most 1 for the engine warp.*mock/),
          details: [{ path: 'output.count', message: 'must be at most 1 for the engine warp' }],
        },
      })
      expect((await post(withCount(1, { engine: 'warp' }))).status).toBe(201)
    })

    it('is 1 to 4', async () => {
      for (const count of [0, 5, 1.5, 'two'])
        expect((await post(withCount(count, { engine: 'mock' }))).body).toMatchObject({
          details: [{ path: 'output.count' }],
        })
      expect((await post(withCount(4, { engine: 'mock' }))).status).toBe(201)
    })
  })

  describe('a mask', () => {
    const rectangle = (width: number, height: number, background = '#000', white = 0) =>
      sharp({ create: { width, height, channels: 4 as const, background } })
        .composite(
          [
            { input: { create: { width: white, height, channels: 4 as const, background: '#fff' } }, left: 0, top: 0 },
          ].filter(() => white > 0),
        )
        .png()
        .toBuffer()
    let size: { width: number; height: number }
    beforeAll(async () => {
      size = await sharp(image).metadata()
    })
    const withMask = (file: Buffer | null, mask: object = {}, source: object = { fileKey: 'mask' }) =>
      post(
        formOf(
          { products, person: person(), output: { engine: 'mock', mask: { image: { source }, ...mask } } },
          file === null ? {} : { mask: file },
        ),
      )
    const countObjects = () =>
      drape.database.oneFirst(
        sql.unsafe`select count(*)::int from objects where key like '%/mask_%' and bytes is not null`,
      )
    const refused = (message: RegExp, path = 'output.mask.image') => ({
      status: 400,
      body: { code: 'VALIDATION_FAILED', details: [{ path, message: expect.stringMatching(message) }] },
    })

    it('is accepted in other sizes than the photo, as a file, and by the ID of an upload, and lives as long as the photo', async () => {
      const { width, height } = size
      for (const scale of [0.5, 1, 1.7]) {
        const file = await rectangle(Math.round(width * scale), Math.round(height * scale), '#000', 30)
        expect((await withMask(file)).status).toBe(201)
      }
      const form = formOf(undefined, { file: await rectangle(width, height, '#000', 30) })
      const { imageId: id } = (await drape.call('POST', '/tryon/v1/images/upload', { body: form })).body
      const { status, body } = await withMask(null, {}, { id })
      expect(status).toBe(201)
      expect(
        await drape.database.one(sql.unsafe`
          select objects.generation_id, kind, objects.expires_at = images.expires_at as "livesAsPhoto"
          from outbox join objects on key = payload->>'maskKey' join images on images.id = payload#>>'{person,imageId}'
          where outbox.generation_id = ${body.generationId}`),
      ).toEqual({ generation_id: body.generationId, kind: 'person', livesAsPhoto: true })
    })

    it('is refused if nothing may change', async () => {
      const { width, height } = size
      const before = await countObjects()
      expect(await withMask(await rectangle(width, height))).toMatchObject(refused(/white region/))
      expect(await withMask(await rectangle(width, height, '#fff0'))).toMatchObject(refused(/white region/))
      expect(await withMask(await rectangle(width, height, '#fff'), { keep: true })).toMatchObject(
        refused(/black region/),
      )
      expect(await countObjects()).toBe(before)
      const accepted = [
        await withMask(await rectangle(width, height, '#fff')),
        await withMask(await rectangle(width, height), { keep: true }),
      ].map(({ body }) => body.generationId)
      // For the dashboard.
      expect(
        await drape.database.anyFirst(
          sql.unsafe`select options->>'mask' from generations where id = any(${sql.array(accepted, 'text')}) order by id`,
        ),
      ).toEqual(['allow', 'keep'])
    })

    it('is refused in another aspect ratio, and if it is no image of the account', async () => {
      const { width, height } = size
      const before = await countObjects()
      expect(await withMask(await rectangle(width, height - 20, '#fff'))).toMatchObject(
        refused(new RegExp(`aspect ratio of the uncropped photo, ${width} × ${height}`)),
      )
      expect(await countObjects()).toBe(before)
      expect(await withMask(null, {}, { id: 'img_unknown' })).toMatchObject(
        refused(/does not exist/, 'output.mask.image.source.id'),
      )
      const other = await drape.createAccount(1)
      const theirs = { body: formOf(undefined, { file: image }), key: other.apiKey }
      const { imageId: id } = (await drape.call('POST', '/tryon/v1/images/upload', theirs)).body
      expect(await withMask(null, {}, { id })).toMatchObject(refused(/does not exist/, 'output.mask.image.source.id'))
      expect(await withMask(null)).toMatchObject({
        status: 400,
        body: { code: 'MULTIPART_FILE_NOT_FOUND', details: [{ path: 'output.mask.image' }] },
      })
      expect(await withMask(Buffer.from('no image'))).toMatchObject({
        body: { details: [{ path: 'output.mask.image' }] },
      })
    })

    it('is deleted if the call is refused', async () => {
      const poor = await drape.createAccount(0)
      const body = formOf(
        {
          products,
          person: { image: { source: { fileKey: 'me' } } },
          output: { engine: 'warp', mask: { image: { source: { fileKey: 'mask' } } } },
        },
        { me: image, mask: await rectangle(size.width, size.height, '#fff') },
      )
      expect(await post(body, { key: poor.apiKey })).toMatchObject({ body: { code: 'INSUFFICIENT_CREDITS' } })
      const folder = `${drape.env.STORAGE_URL.slice('file:'.length)}/persons/${poor.id}`
      expect((await readdir(folder).catch(() => [])).filter((name) => name.startsWith('mask_'))).toEqual([])
    })
  })

  it('refuses a product without an image of a kind that the engine can use', async () => {
    const refused = { status: 422, body: { code: 'MISSING_REQUIRED_CLASSIFICATION', details: { key: 'flat_lay' } } }
    const detail = [{ ...products[0].images[0], classifications: { detail: true } }]
    const inline = { externalId: 'detail', images: detail }
    expect(await post({ products: [inline], person: person() })).toMatchObject(refused)
    await drape.call('POST', '/tryon/v1/products', { body: inline })
    expect(await post({ products: [{ externalId: 'detail' }], person: person() })).toMatchObject(refused)
    expect(await post({ products: [{ externalId: 'detail', title: 'x' }], person: person() })).toMatchObject(refused)
    expect((await drape.call('GET', '/tryon/v1/products/detail')).body).toMatchObject({ title: null, lastUsedAt: null })
    const mock = { products: [{ externalId: 'detail' }], person: person(), output: { engine: 'mock' } }
    expect((await post(mock)).status).toBe(201)
  })

  it('reads classifications in any letter case, and ignores unknown values with a warning', async () => {
    const shown = (classifications: object) => ({
      externalId: 'cased',
      images: [{ ...products[0].images[0], classifications }],
    })
    const warningsOf = async (product: object) => {
      const answer = await post({ products: [product], person: person() })
      expect(answer).toMatchObject({ status: 201 })
      return answer.body.warnings
    }
    expect(await warningsOf(shown({ type: 'FLAT_LAY', view: 'Front', category: 'TOPS' }))).toBeUndefined()
    expect(await warningsOf({ externalId: 'cased' })).toBeUndefined()
    const unknown = shown({ type: 'packshot', view: 'above', category: 'hats', colour: 'RED' })
    const codes = ['TYPE', 'VIEW', 'CATEGORY'].map((key) => `CLASSIFICATION_${key}_IGNORED`)
    expect(await warningsOf(unknown)).toEqual(codes)
    expect(await warningsOf({ externalId: 'cased' })).toBeUndefined()
    const stored = await drape.call('POST', '/tryon/v1/products', { body: unknown })
    expect(stored).toMatchObject({
      status: 200,
      body: { warnings: codes, images: [unknown.images[0]].map(({ classifications }) => ({ classifications })) },
    })
    expect((await drape.call('GET', '/tryon/v1/products/cased')).body).not.toHaveProperty('warnings')
    const detail = shown({ type: 'DETAIL' })
    expect(await post({ products: [detail], person: person() })).toMatchObject({
      status: 422,
      body: { code: 'MISSING_REQUIRED_CLASSIFICATION' },
    })
  })

  it('has no list of generations and no ratings', async () => {
    const { generationId } = (await post({ products, person: person() })).body
    for (const [method, path] of [
      ['GET', 'generations'],
      ['GET', 'generations/'],
      ['POST', `generations/${generationId}/rating`],
      ['POST', `generations/${generationId}/ratings`],
    ]) {
      expect(await drape.call(method, `/tryon/v1/${path}`)).toMatchObject({
        status: 404,
        body: { code: 'ROUTE_NOT_FOUND' },
      })
    }
  })

  describe('the fields of an upload', () => {
    const stored = (id: string) =>
      drape.database.one(sql.unsafe`
        select external_user_id as "externalUserId", crop_mode as "cropMode",
          round(extract(epoch from expires_at - created_at) / 86400)::int as days
        from images where id = ${id}`)

    it.each([
      [{}, { externalUserId: null, cropMode: 'auto', days: 7 }],
      [
        { crop: 'false', externalUserId: '1', keepForDays: '1' },
        { externalUserId: '1', cropMode: 'none', days: 1 },
      ],
      [
        { crop: 'true', customerId: 'true', retentionDays: '3' },
        { externalUserId: 'true', cropMode: 'auto', days: 3 },
      ],
      [
        { customerId: 'old', externalUserId: 'new', retentionDays: '1', keepForDays: '3' },
        { externalUserId: 'new', cropMode: 'auto', days: 3 },
      ],
      [
        { crop: '0', keepForDays: '' },
        { externalUserId: null, cropMode: 'none', days: 7 },
      ],
      [
        { crop: 'TRUE', retentionDays: '' },
        { externalUserId: null, cropMode: 'auto', days: 7 },
      ],
      [{ crop: 'False' }, { externalUserId: null, cropMode: 'none', days: 7 }],
      [{ crop: '1' }, { externalUserId: null, cropMode: 'auto', days: 7 }],
      [
        { crop: 'NULL', keepForDays: 'null' },
        { externalUserId: null, cropMode: 'auto', days: 7 },
      ],
      [{ crop: '' }, { externalUserId: null, cropMode: 'auto', days: 7 }],
    ])('%j are accepted', async (fields, meant) => {
      const { status, body } = await upload(fields as Record<string, string>)
      expect(status).toBe(201)
      expect(await stored(body.imageId)).toEqual(meant)
    })

    it.each([
      [{ crop: 'yes' }, 'crop must be true or false'],
      [{ crop: '2' }, 'crop must be true or false'],
      [{ keepForDays: '2' }, 'keepForDays must be one of 1, 3, 7'],
      [{ keepForDays: 'true' }, 'keepForDays must be one of 1, 3, 7'],
      [{ retentionDays: '30' }, 'retentionDays must be one of 1, 3, 7'],
      [{ customerId: '' }, 'customerId must not be empty'],
    ])('%j are refused', async (fields, problem) => {
      const { status, body } = await upload(fields as Record<string, string>)
      expect({ status, code: body.code }).toEqual({ status: 400, code: 'VALIDATION_FAILED' })
      expect(body.details.map((each: Record<string, string>) => `${each.path} ${each.message}`)).toEqual([problem])
    })
  })
})
