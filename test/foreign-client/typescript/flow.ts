// A flow with the client that openapi-typescript and openapi-fetch make of the document; checked by the compiler, then run.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.d.ts'

const { BASE_URL = '', API_KEY = '', PERSON_PHOTO = '', GARMENT_URL = '' } = process.env
const SHOPPER = 'shopper-of-typescript'
const PRODUCT = 'typescript-1'
const client = createClient<paths>({ baseUrl: BASE_URL, headers: { 'x-api-key': API_KEY } })
type ErrorCode = components['schemas']['Error']['code']

function succeed<T>({ data, error }: { data?: T; error?: { code: ErrorCode } }): T {
  if (data === undefined) throw new Error(error?.code ?? 'An answer without a body')
  return data
}

function assertIs(actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`)
}

/** The generator has text for binary; a form carries the bytes. */
const asFile = async (path: string) => new Blob([new Uint8Array(await readFile(path))]) as unknown as string

function formOf(body: object): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(body)) form.set(name, value instanceof Blob ? value : String(value))
  return form
}

const account = succeed(await client.GET('/tryon/v1/account'))
assertIs(account.isActive, true)
const { creditBalance } = succeed(await client.GET('/tryon/v1/account/credits'))
assertIs(creditBalance, account.creditBalance)

const upload = succeed(
  await client.POST('/tryon/v1/images/upload', {
    body: { file: await asFile(PERSON_PHOTO), keepForDays: 1, externalUserId: SHOPPER },
    bodySerializer: formOf,
  }),
)
assertIs((await fetch(upload.imageUrl)).status, 200)

const images: components['schemas']['ProductInput']['images'] = [{ source: { url: GARMENT_URL } }]
const product = succeed(
  await client.POST('/tryon/v1/products', {
    body: { externalId: PRODUCT, title: 'T-shirt', images, metadata: { sku: 1 }, validForDays: null },
  }),
)
assertIs(product.images[0]?.order, 0)
assertIs(product.expiresAt, null)
const list = succeed(await client.GET('/tryon/v1/products', { params: { query: { limit: 200 } } }))
assertIs(list.items.find(({ externalId }) => externalId === PRODUCT)?.createdAt, product.createdAt)

const accepted = succeed(
  await client.POST('/tryon/v1/try-on', {
    body: {
      products: [{ externalId: PRODUCT }],
      person: { image: { source: { id: upload.imageId } } },
      externalUserId: SHOPPER,
    },
  }),
)
const params = { path: { id: accepted.generationId } }
for (;;) {
  const generation = succeed(await client.GET('/tryon/v1/generations/{id}', { params }))
  assertIs(generation.errorCode, undefined)
  if (generation.status === 'COMPLETED') {
    const image = await fetch(generation.resultImageUrl ?? '')
    assertIs(image.headers.get('content-type')?.startsWith('image/'), true)
    break
  }
  await sleep(300)
}
const after = succeed(await client.GET('/tryon/v1/account/credits'))
assertIs(after.creditBalance, creditBalance - 1)
const ofProduct = { params: { path: { externalId: PRODUCT } } }
const counts = succeed(await client.GET('/tryon/v1/products/{externalId}/stats', ofProduct))
assertIs(counts.completedGenerations, 1)

const refused = await client.POST('/tryon/v1/try-on', { body: { products: [{ externalId: PRODUCT }] } })
assertIs(refused.error?.code, 'CUSTOMER_IMAGE_REQUIRED' satisfies ErrorCode)
assertIs(refused.error?.status, 400)

const erased = await client.DELETE('/tryon/v1/customers/{customerId}', { params: { path: { customerId: SHOPPER } } })
assertIs(erased.response.status, 204)
const forgotten = succeed(await client.GET('/tryon/v1/generations/{id}', { params }))
assertIs('resultImageUrl' in forgotten, false)
assertIs(forgotten.imagesExpired, true)

const deleted = succeed(await client.DELETE('/tryon/v1/products/{externalId}', ofProduct))
assertIs(deleted.deleted, true)
const missing = await client.GET('/tryon/v1/products/{externalId}', ofProduct)
assertIs(missing.error?.code, 'PRODUCT_NOT_FOUND' satisfies ErrorCode)
