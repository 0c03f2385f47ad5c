import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { ROUTES } from '../../../api/http/core-routes.ts'
import { createDocument } from '../../../api/http/openapi/document.ts'
import { completeForShop } from '../../support/completed.ts'
import { formOf, readSample, startDrape } from '../../support/drape.ts'
import { type Examples, fullValueOf, optionalMembersOf, withMember } from '../../support/full-values.ts'
import { type DocumentedOperation, type JsonSchema, openDocument } from '../../support/openapi-document.ts'
import { createDevelopmentShop } from '../../support/shop.ts'

const { operations, resolve } = openDocument(createDocument(ROUTES, { publicUrl: '', serviceName: 'Drape' }))
const JSON_TYPE = 'application/json'
const FORM_TYPE = 'multipart/form-data'
/** Shopify defines what it sends, null included, and signs it. */
const FOREIGN = ['receiveShopifyWebhook']
/** Requests of an account without concurrent generations, so that no call waits for a worker. */
const KEPT_OUT = ['createTryOnAndWait']
/** Its only field is a text, and its address belongs to a refused try-on. */
const TEXT_ONLY = ['requestShopperAppeal']
/** Members of responses that differ between calls. */
const UNIQUE = /(At|Id|Url|Token|estimatedSeconds|estimatedStartSeconds|estimatedStartRange|queuePosition)$/

const withJson = operations.filter(({ id, bodies }) => bodies.has(JSON_TYPE) && !FOREIGN.includes(id))
const withForm = operations.filter(
  ({ id, bodies }) => bodies.has(FORM_TYPE) && !bodies.has(JSON_TYPE) && !TEXT_ONLY.includes(id),
)

// An outfit has at least two products, and one result without a mask.
function asOutfit(operation: string, body: unknown): unknown {
  if (operation !== 'createOutfit') return body
  const coat = { externalId: 'coat', title: 'Coat', images: [{ source: { url: 'https://shop.example/b.jpg' } }] }
  const { products, output, ...rest } = body as { products: unknown[]; output: Record<string, unknown> }
  const { count, mask, changedMask, ...options } = output
  return { ...rest, products: [...products, coat], output: options }
}

describe('an optional member of a request', async () => {
  const values: Record<string, unknown> = {}
  const examples: Examples = { resolve, values }

  const photo = await readSample('persons/down-half-teal.jpg')
  const drape = await startDrape({ credits: 10_000 })
  const { id: shopId, headers } = await createDevelopmentShop(drape)
  const shop = headers
  const idle = { writesPerMinute: 1_000_000, readsPerMinute: 1_000_000, concurrentGenerations: 0 }
  const [made, publishable, { generationId }] = await Promise.all([
    drape.createAccount(10, idle),
    createAccounts(drape.database).insertKey(drape.accountId, 'publishable'),
    completeForShop(drape, { shopId, image: photo, productId: 'gid://shop/Product/1' }),
  ])
  await completeForShop(drape, { shopId, image: photo, productId: 'gid://shop/Product/2', title: 'Jeans' })
  const keys = { idle: made.apiKey, publishable }
  const image = await drape.upload(photo, { crop: 'false' })
  let listenerId = ''
  // A listener ends a minute after its last poll.
  const listen = async () => {
    const { body } = await drape.call('POST', '/tryon/v1/webhooks/listeners', {
      // An event that does not happen here, so the responses of two polls are equal.
      body: { events: ['customer.erased'] },
    })
    listenerId = body.listenerId
  }
  const { body: own } = await drape.call('POST', '/public/upload-image', {
    key: null,
    headers: shop,
    body: photoForm(),
  })
  Object.assign(values, {
    id: image.imageId,
    url: 'https://shop.example/a.jpg',
    imageUrls: ['https://shop.example/a.jpg'],
    userImageId: own.fileId,
    productId: 'gid://shop/Product/1',
    variantId: 'gid://shop/ProductVariant/1',
    withProductIds: ['gid://shop/Product/2'],
    generationId,
    deadlineSeconds: 60,
    maxWaitSeconds: 3600,
    engine: 'mock',
    anonymous_id: 'anon_tester',
    session_id: 'sess_1',
    widget_version: 'wv_1',
    service_client_id: '0b8f7c0e-3a53-4b0e-9f0e-3a534b0e9f0e',
    timestamp: new Date().toISOString(),
    // Of a consent.
    policy: 'shop.test',
    version: 'neutral-1',
    at: new Date().toISOString(),
  })
  afterAll(() => drape.stop())

  it.each(withJson.map((operation) => [operation.id, operation] as const))(
    'that is null is the same as one that is left out: %s',
    async (_, operation) => {
      if (operation.id === 'createListener') await listen()
      for (const schema of shapesOf(operation.bodies.get(JSON_TYPE))) {
        const body = asOutfit(operation.id, fullValueOf(schema, examples))
        const members = optionalMembersOf(schema, body, examples)
        // Otherwise all calls would fail at the same check.
        if (members.length > 0 && !KEPT_OUT.includes(operation.id)) {
          expect((await send(operation, body)).status, JSON.stringify(body)).toBeLessThan(300)
        }
        for (const path of members) {
          const absent = withMember(body, path, undefined)
          // The first call may create data that later calls find.
          await send(operation, absent)
          const answer = await send(operation, withMember(body, path, null))
          expect(answer, path.join('.')).toEqual(await send(operation, absent))
        }
        if (operation.bodies.has(FORM_TYPE)) {
          const withAll = (member: unknown) =>
            members.filter(({ length }) => length === 1).reduce((rest, path) => withMember(rest, path, member), body)
          expect(await send(operation, formOf(withAll(null), {}))).toEqual(await send(operation, withAll(undefined)))
        }
      }
    },
  )

  it.each(withForm.map((operation) => [operation.id, operation] as const))(
    'that is an empty field of a form, or the word null, is the same as one that is left out unless it is text: %s',
    async (_, operation) => {
      const schema = operation.bodies.get(FORM_TYPE) as { properties: Record<string, JsonSchema> }
      const required: Record<string, string> =
        operation.id === 'requestRemoval' ? { email: 'ada@example.com', reason: 'This is me.' } : {}
      const without = await send(operation, photoForm(required))
      expect([200, 201]).toContain(without.status)
      for (const [name, property] of Object.entries(schema.properties)) {
        if ((property as { type?: string }).type === 'string') continue
        for (const text of ['', 'null', 'NULL']) {
          expect(await send(operation, photoForm({ ...required, [name]: text })), `${name}=${text}`).toEqual(without)
        }
      }
    },
  )

  /** Each alternative of a body. */
  function shapesOf(schema: JsonSchema | undefined): JsonSchema[] {
    const { anyOf } = schema as { anyOf?: JsonSchema[] }
    return anyOf ?? [schema ?? true]
  }

  function photoForm(fields: Readonly<Record<string, string>> = {}): FormData {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(photo)]))
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    return form
  }

  async function send({ method, path, id }: DocumentedOperation, body: unknown) {
    const key = path.startsWith('/tryon/') ? (KEPT_OUT.includes(id) ? keys.idle : drape.apiKey) : null
    const headers = path === '/storefront/v1/events' ? publishableHeaders() : shop
    const url = path.replace('/listeners/{id}', `/listeners/${listenerId}`)
    const answer = await drape.call(method.toUpperCase(), url, { body, key, headers: key === null ? headers : {} })
    const shown = JSON.stringify(answer.body, (name, value) => (UNIQUE.test(name) && value !== null ? 'unique' : value))
    return { status: answer.status, deprecation: answer.headers.get('deprecation'), body: JSON.parse(shown) as unknown }
  }

  function publishableHeaders(): Record<string, string> {
    return { authorization: `Bearer ${keys.publishable}`, 'x-service-anonymous-id': 'anon_tester' }
  }
})
