import { describe, expect, it } from 'vitest'
import { translateProduct, translateTryOn, translateUpload } from '../../../api/products/legacy.routes.ts'
import { formatPath } from '../../../api/shared/contract/schema.ts'

const source = { url: 'https://shop.example/a.jpg' }
const now = { products: [{ externalId: 'a', images: [{ source }] }], person: { image: { source: { id: 'img_1' } } } }

describe('a try-on body in an older format', () => {
  const translate = (body: unknown) => translateTryOn(body).body
  const writtenIn = (body: unknown, ...path: string[]) => formatPath(translateTryOn(body).written(path))

  it('is unchanged without old fields', () => {
    for (const body of [
      now,
      { ...now, output: { watermark: false }, externalUserId: 'u', more: 1 },
      null,
      [],
      5,
      'x',
    ]) {
      expect(translate(body)).toEqual(body)
    }
  })

  it('is not mutated', () => {
    const sent = { product: { images: [{ url: 'x' }] }, customer: { id: 'a' }, useWatermark: false }
    const before = structuredClone(sent)
    translateTryOn(sent)
    expect(sent).toEqual(before)
  })

  it.each([
    ['product', { product: { externalId: 'a', images: [{ source }] } }, { products: now.products }],
    ['flat image entries', { products: [{ externalId: 'a', images: [source] }] }, { products: now.products }],
    ['a flat entry in product', { product: { externalId: 'a', images: [source] } }, { products: now.products }],
    ['customer with a source', { customer: { source: { id: 'img_1' } } }, { person: now.person }],
    ['a flat customer', { customer: { id: 'img_1' } }, { person: now.person }],
    ['customerId', { customerId: 'u' }, { externalUserId: 'u' }],
    ['useWatermark', { useWatermark: false }, { output: { watermark: false } }],
    ['retentionDays', { retentionDays: 3 }, { output: { keepForDays: 3 } }],
    [
      'retentionDays beside an output',
      { retentionDays: 3, output: { format: 'png' } },
      { output: { keepForDays: 3, format: 'png' } },
    ],
  ])('has %s moved to the current field', (_, sent, meant) => {
    expect(translate(sent)).toMatchObject(meant)
  })

  it('keeps the classifications of a flat entry', () => {
    const classifications = { type: 'flat_lay' }
    const sent = { product: { images: [{ fileKey: 'front', classifications }] } }
    expect(translate(sent)).toMatchObject({
      products: [{ images: [{ source: { fileKey: 'front' }, classifications }] }],
    })
  })

  it('yields to the current format of each field', () => {
    const sent = {
      ...now,
      product: { externalId: 'old' },
      customer: { id: 'old' },
      externalUserId: 'new',
      customerId: 'old',
      output: { watermark: true },
      useWatermark: false,
      retentionDays: 7,
    }
    expect(translate(sent)).toMatchObject({
      ...now,
      externalUserId: 'new',
      output: { watermark: true, keepForDays: 7 },
    })
    expect(translate({ ...now, products: [{ images: [{ source, url: 'old' }] }] })).toMatchObject({
      products: [{ images: [{ source }] }],
    })
    expect(translate({ customer: { source: { id: 'new' }, id: 'old' } })).toMatchObject({
      person: { image: { source: { id: 'new' } } },
    })
  })

  it('treats null as absent', () => {
    expect(translate({ externalUserId: null, customerId: 'u', person: null, customer: { id: 'a' } })).toMatchObject({
      externalUserId: 'u',
      person: { image: { source: { id: 'a' } } },
    })
    expect(translate({ useWatermark: null, customer: null })).toEqual({ useWatermark: null, customer: null })
  })

  it('reports whether it is deprecated, and which older fields are ignored', () => {
    const deprecation = (body: unknown) => {
      const { isDeprecated, warnings } = translateTryOn(body)
      return { isDeprecated, warnings }
    }
    expect(deprecation(now)).toEqual({ isDeprecated: false, warnings: [] })
    expect(deprecation({ ...now, customer: null })).toEqual({ isDeprecated: false, warnings: [] })
    expect(deprecation({ ...now, customerId: 'u' })).toEqual({ isDeprecated: true, warnings: [] })
    expect(deprecation({ products: [{ images: [source] }] })).toEqual({ isDeprecated: true, warnings: [] })
    expect(deprecation({ ...now, customer: { id: 'a' }, product: {} })).toEqual({
      isDeprecated: true,
      warnings: ['PRODUCT_IGNORED', 'CUSTOMER_IGNORED'],
    })
    expect(deprecation({ output: { keepForDays: 1 }, retentionDays: 3 }).warnings).toEqual(['RETENTION_DAYS_IGNORED'])
  })

  it('warns once about each classification with an unknown value', () => {
    const warningsOf = (...list: object[]) => {
      const images = list.map((classifications) => ({ ...source, classifications }))
      return [translateTryOn({ products: [{ images }] }), translateProduct({ images })].map(({ warnings }) => warnings)
    }
    expect(warningsOf({ type: 'Flat_Lay', view: 'FRONT', category: 'Tops' }, { type: null, on_model: true })).toEqual([
      [],
      [],
    ])
    const codes = ['CLASSIFICATION_TYPE_IGNORED', 'CLASSIFICATION_VIEW_IGNORED']
    expect(warningsOf({ type: 'packshot' }, { type: 5, view: 'above' })).toEqual([codes, codes])
  })

  it.each([
    { ...now, person: { ...now.person, externalUserId: 'u' } },
    { ...now, person: { ...now.person, customerId: 'u' }, externalUserId: 'other' },
    { ...now, output: { externalUserId: 'u' } },
    { products: now.products, customer: { id: 'img_1', externalUserId: 'u' } },
  ])('warns if an erasure would miss the end user: %j', (body) => {
    expect(translateTryOn(body).warnings).toEqual(['EXTERNAL_USER_ID_IGNORED'])
  })

  it('maps fields to the paths of the caller', () => {
    const sent = {
      product: { images: [{ source }, source] },
      customer: { source: { url: 'x' } },
      customerId: 'u',
      useWatermark: 1,
      retentionDays: 2,
    }
    expect(writtenIn(sent, 'products', '0', 'validForDays')).toBe('product.validForDays')
    expect(writtenIn(sent, 'products', '0', 'images', '0', 'source', 'url')).toBe('product.images[0].source.url')
    expect(writtenIn(sent, 'products', '0', 'images', '1', 'source', 'url')).toBe('product.images[1].url')
    expect(writtenIn(sent, 'products', '0', 'images', '1', 'source')).toBe('product.images[1]')
    expect(writtenIn(sent, 'person', 'image', 'source', 'url')).toBe('customer.source.url')
    expect(writtenIn({ customer: { id: 'a' } }, 'person', 'image', 'source', 'id')).toBe('customer.id')
    expect(writtenIn(sent, 'externalUserId')).toBe('customerId')
    expect(writtenIn(sent, 'output', 'watermark')).toBe('useWatermark')
    expect(writtenIn(sent, 'output', 'keepForDays')).toBe('retentionDays')
    expect(writtenIn(sent, 'output', 'format')).toBe('output.format')
    expect(writtenIn(now, 'products', '0', 'images', '0', 'source')).toBe('products[0].images[0].source')
  })

  it('does not fail for values of wrong types', () => {
    for (const sent of [
      { output: 5, useWatermark: true },
      { products: 'x', product: {} },
      { products: [null, 5, { images: {} }, { images: [null, 'a'] }] },
      { customer: 'img_1' },
      { product: [] },
      JSON.parse('{ "__proto__": { "product": {} }, "customer": { "__proto__": { "source": 1 } } }'),
    ]) {
      expect(() => translateTryOn(sent)).not.toThrow()
    }
    expect(({} as { product?: unknown }).product).toBeUndefined()
  })
})

describe('a product body in an older format', () => {
  it('has imageUrls and flat entries moved to images', () => {
    const { body, written } = translateProduct({ externalId: 'a', imageUrls: ['x', 'y'] })
    expect(body).toMatchObject({ images: [{ source: { url: 'x' } }, { source: { url: 'y' } }] })
    expect(formatPath(written(['images', '1', 'source', 'url']))).toBe('imageUrls[1]')
    expect(formatPath(written(['images']))).toBe('imageUrls')
    expect(translateProduct({ images: [{ fileKey: 'a' }] }).body).toEqual({
      images: [{ fileKey: 'a', source: { fileKey: 'a' } }],
    })
  })

  it('yields to images', () => {
    const { body, written } = translateProduct({ images: [{ fileKey: 'new' }], imageUrls: ['old', 'older'] })
    expect(body).toMatchObject({ images: [{ source: { fileKey: 'new' } }] })
    expect(formatPath(written(['images', '0', 'source', 'fileKey']))).toBe('images[0].fileKey')
  })
})

describe('the fields of an older upload', () => {
  it('get the current names', () => {
    const { body, written } = translateUpload({ customerId: 'u', retentionDays: 3 })
    expect(body).toMatchObject({ externalUserId: 'u', keepForDays: 3 })
    expect(formatPath(written(['keepForDays']))).toBe('retentionDays')
    expect(translateUpload({ customerId: 'old', externalUserId: 'new' }).body).toMatchObject({ externalUserId: 'new' })
  })
})
