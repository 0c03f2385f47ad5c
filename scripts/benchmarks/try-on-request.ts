import { readFile } from 'node:fs/promises'
import { sql } from '../../api/shared/database/database.ts'
import type { Tenant } from './bench.ts'
import type { Load } from './load.ts'
import { EXTERNAL_ID } from './sample-data.ts'

const SAMPLES = new URL('../samples/', import.meta.url)

export type TryOnRequest = Pick<Load, 'method'> & {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A try-on by reference to a stored photo and product of the account. */
export function tryOnRequest(
  { apiKey }: Pick<Tenant, 'apiKey'>,
  { imageId, engine }: { imageId: string; engine?: 'warp' | 'mock' },
): TryOnRequest {
  return {
    method: 'POST',
    path: '/tryon/v1/try-on',
    headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
    body: JSON.stringify({
      products: [{ externalId: EXTERNAL_ID }],
      person: { image: { source: { id: imageId } } },
      output: { engine },
    }),
  }
}

type Target = Pick<Tenant, 'apiKey'> & { readonly api: { readonly url: string } }

/** Uploads a photo and a product image that a worker can use for a try-on. */
export async function sendSample(target: Target): Promise<{ imageId: string }> {
  const product = { externalId: EXTERNAL_ID, title: 'T-shirt', images: [{ source: { fileKey: 'file' } }] }
  await send(target, { path: '/products', file: 'garments/tshirt-mustard.jpg', data: JSON.stringify(product) })
  return send(target, { path: '/images/upload', file: 'persons/down-half-teal.jpg' })
}

async function send({ apiKey, api }: Target, { path, file, data }: { path: string; file: string; data?: string }) {
  const form = new FormData()
  if (data !== undefined) form.set('data', data)
  form.set('file', new Blob([await readFile(new URL(file, SAMPLES))]))
  const response = await fetch(`${api.url}/tryon/v1${path}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey },
    body: form,
  })
  const body = (await response.json()) as { imageId: string }
  if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
  return body
}

/** Posts `count` try-ons. Returns their IDs. */
export async function postTryOns(api: string, request: TryOnRequest, count: number): Promise<string[]> {
  const ids: string[] = []
  const post = async () => {
    const { method, headers, body } = request
    const response = await fetch(api + request.path, { method, headers, body })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
    ids.push(JSON.parse(text).generationId)
  }
  for (let sent = 0; sent < count; sent += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - sent) }, post))
  return ids
}

/** Number of unfinished generations. */
export async function countUnfinished({ database }: Pick<Tenant, 'database'>): Promise<number> {
  return Number(await database.oneFirst(sql.unsafe`select count(*) from outbox`))
}
