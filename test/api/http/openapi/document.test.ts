import { globSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { TryOnBody } from '../../../../api/generations/try-on.schema.ts'
import { ROUTES } from '../../../../api/http/core-routes.ts'
import { createDocument } from '../../../../api/http/openapi/document.ts'
import { isBehindKey, nameOf, type Operation } from '../../../../api/http/openapi/operation.ts'
import { translateProduct, translateTryOn } from '../../../../api/products/legacy.routes.ts'
import { CatalogProductBody } from '../../../../api/products/products.schema.ts'
import { ERRORS } from '../../../../api/shared/contract/error-codes.ts'
import { compileCheck } from '../../../../api/shared/contract/schema.ts'
import { openDocument } from '../../../support/openapi-document.ts'

const API = resolve(import.meta.dirname, '../../../../api')
const content = createDocument(ROUTES, { publicUrl: 'https://try.example', serviceName: 'Drape' })
const document = openDocument(content)

describe('the OpenAPI document', () => {
  it('has an operation for every declared route', async () => {
    const operations = document.operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`)
    const declared = await listDeclaredRoutes()
    expect(operations.toSorted(), 'api/http/core-routes.ts lists the routes of each file').toEqual(declared.toSorted())
  })

  it('names the scopes of every operation that requires an API key, and of no other', () => {
    for (const route of ROUTES) expect((route.scopes ?? []).length > 0, route.id).toBe(isBehindKey(route))
    const open = ROUTES.filter((route) => route.path.startsWith('/tryon/') && !isBehindKey(route))
    expect(open.map(nameOf)).toEqual(['GET /tryon/v1/openapi.json'])
  })

  it('names every operation once', () => {
    const ids = document.operations.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('names every parameter of a path', () => {
    for (const { path, parameters } of document.operations) {
      const inPath = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => `{${name}}`)
      expect(path.match(/\{\w+\}/g) ?? []).toEqual(inPath)
    }
  })

  it('has only schemas that can be compiled', () => {
    for (const operation of document.operations) {
      for (const schema of operation.schemas) expect(document.compile(schema), operation.id).toBeTypeOf('function')
    }
  })

  it('names the fields that a form requires, beside its files', () => {
    const requiredOf = (wanted: string) => {
      const operation = document.operations.find(({ path, method }) => path === wanted && method === 'post')
      return Object(operation?.bodies.get('multipart/form-data')).required
    }
    expect(requiredOf('/removal')).toEqual(['file', 'email', 'reason'])
    expect(requiredOf('/appeal/{reference}')).toEqual(['reason'])
    expect(requiredOf('/verify')).toEqual(['file'])
  })

  it('has a type for every enum', () => {
    const choices = choicesIn(content)
    expect(choices.length).toBeGreaterThan(10)
    for (const choice of choices) expect(choice.type, JSON.stringify(choice)).toMatch(/^(string|integer)$/)
  })

  it('lists each code under its status', () => {
    for (const { id, answers } of document.operations) {
      for (const [status, { codes }] of answers) {
        for (const code of codes) expect(ERRORS[code].status, `${id} ${code}`).toBe(status)
      }
    }
  })

  const image = { source: { url: 'https://shop.example/shirt.jpg' } }
  const flat = { fileKey: 'shirt', classifications: { on_model: true } }
  const person = { image: { source: { id: 'img_1' } } }

  it.each([
    ['today’s shape', { products: [{ images: [image] }], person }],
    ['options without defaults', { products: [{ externalId: 'a' }], person, output: { format: 'png' } }],
    ['flat images', { products: [{ images: [flat] }], person }],
    ['one product', { product: { externalId: 'a' }, person }],
    ['a customer', { product: { images: [flat] }, customer: { source: { fileKey: 'me' } }, customerId: 'u' }],
    ['a flat customer', { products: [{ images: [image] }], customer: { id: 'img_1' }, useWatermark: false }],
    ['old days', { product: { externalId: 'a' }, customer: { id: 'img_1' }, retentionDays: 3 }],
  ])('accepts a try-on in %s', (_, body) => {
    const { isDescribed, isAccepted } = checkBody('createTryOn', body)
    expect({ isDescribed, isAccepted }).toEqual({ isDescribed: true, isAccepted: true })
  })

  it.each([
    ['two products', { products: [{ externalId: 'a' }, { externalId: 'b' }], person }],
    ['two sources', { products: [{ externalId: 'a' }], person: { image: { source: { id: 'a', fileKey: 'b' } } } }],
    ['days that are not offered', { products: [{ externalId: 'a' }], person, output: { keepForDays: 2 } }],
    ['no web address', { products: [{ images: [{ source: { url: 'ftp://a.b/c' } }] }], person }],
  ])('rejects a try-on with %s', (_, body) => {
    const { isDescribed, isAccepted } = checkBody('createTryOn', body)
    expect({ isDescribed, isAccepted }).toEqual({ isDescribed: false, isAccepted: false })
  })

  it('describes products in the current and in older formats', () => {
    for (const images of [{ images: [image] }, { images: [flat] }, { imageUrls: [image.source.url] }, {}]) {
      const body = { externalId: 'a', validForDays: null, ...images }
      expect(checkBody('upsertProduct', body)).toEqual({ isDescribed: true, isAccepted: true })
    }
  })

  function checkBody(id: string, body: unknown) {
    const operation = document.operations.find((known) => known.id === id)
    const isDescribed = document.compile(operation?.bodies.get('application/json') ?? false)(body)
    const [translate, schema] =
      id === 'createTryOn' ? ([translateTryOn, TryOnBody] as const) : ([translateProduct, CatalogProductBody] as const)
    return { isDescribed, isAccepted: compileCheck(schema)(translate(body).body).ok }
  }
})

/** Every schema of a document that lists its values. */
function choicesIn(value: unknown): { readonly enum: unknown; readonly type?: unknown }[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'enum' in value && Array.isArray(value.enum) ? [{ ...value, enum: value.enum }] : []
  return [...own, ...Object.values(value).flatMap(choicesIn)]
}

/** Every route that a file of the server API or of the storefront declares, as `GET /tryon/v1/generations/{id}`. */
async function listDeclaredRoutes(): Promise<string[]> {
  const modules: object[] = await Promise.all(
    globSync('**/*.routes.ts', { cwd: API }).map((file) => import(resolve(API, file))),
  )
  return modules.flatMap((module) => Object.values(module).flat().filter(isRoute).map(nameOf))
}

function isRoute(value: unknown): value is Operation {
  return typeof value === 'object' && value !== null && 'guards' in value && 'path' in value
}
