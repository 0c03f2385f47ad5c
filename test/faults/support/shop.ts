import { formOf } from '../../support/drape.ts'
import type { Fleet } from './fleet.ts'
import type { GarmentImages } from './images.ts'

/** Outcome of one request. */
export interface Order {
  /** Null if the request was refused or got no response. */
  readonly generationId: string | null
  /** Null without a response. */
  readonly status: number | null
  readonly code: string | null
  readonly ms: number
}

export interface OrderOptions {
  /** Delay of the garment image, in ms. */
  readonly imageMs?: number
  readonly product?: Readonly<Record<string, unknown>>
  readonly idempotencyKey?: string
  readonly deadlineSeconds?: number
  /** Time that the caller waits for the response. */
  readonly patienceMs?: number
}

/** A caller with an account, which records the accepted try-ons. */
export interface Shop {
  readonly accountId: string
  readonly orders: readonly Order[]
  /** IDs of all accepted generations. */
  readonly accepted: readonly string[]
  /** Requests a try-on from the replicas in turn. Never throws. */
  order(options?: OrderOptions): Promise<Order>
  /** Sends a photo and returns the status of the response. */
  upload(bytes?: Uint8Array): Promise<number | null>
}

const PATIENCE_MS = 30_000

export async function openShop({
  account,
  replicas,
  images,
  image,
}: {
  account: { readonly id: string; readonly apiKey: string }
  replicas: Fleet
  images: GarmentImages
  /** Of a person. */
  image: Uint8Array
}): Promise<Shop> {
  const orders: Order[] = []
  let turn = 0
  const post = async (
    path: string,
    body: FormData | string,
    headers: Readonly<Record<string, string>> = {},
    patienceMs = PATIENCE_MS,
  ) => {
    const replica = replicas.members[turn++ % replicas.members.length]
    const response = await fetch(`${replica?.url}/tryon/v1${path}`, {
      method: 'POST',
      body,
      headers: { 'x-api-key': account.apiKey, ...headers },
      signal: AbortSignal.timeout(patienceMs),
    })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const upload = (bytes: Uint8Array) => {
    const form = formOf(undefined, { file: bytes })
    form.set('crop', 'false')
    return post('/images/upload', form)
  }
  const { body: photo } = await upload(image)

  return {
    accountId: account.id,
    orders,
    get accepted() {
      return orders.map(({ generationId }) => generationId).filter((id) => id !== null)
    },
    upload: (bytes = image) =>
      upload(bytes).then(
        ({ status }) => status,
        () => null,
      ),
    order: async ({ imageMs = 0, product, idempotencyKey, deadlineSeconds = 600, patienceMs } = {}) => {
      const body = JSON.stringify({
        products: [product ?? { images: [{ source: { url: images.next(imageMs) } }] }],
        person: { image: { source: { id: photo.imageId } } },
        output: { deadlineSeconds },
      })
      const headers = {
        'content-type': 'application/json',
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      }
      const started = performance.now()
      const answer = await post('/try-on', body, headers, patienceMs).catch(() => ({
        status: null,
        body: {} as Record<string, unknown>,
      }))
      const order = {
        generationId: answer.status === 201 ? String(answer.body.generationId) : null,
        status: answer.status,
        code: typeof answer.body.code === 'string' ? answer.body.code : null,
        ms: performance.now() - started,
      }
      orders.push(order)
      return order
    },
  }
}
