import { readFile } from 'node:fs/promises'
import { sql } from '../../api/shared/database/database.ts'
import type { Tenant } from './bench.ts'
import type { Load } from './load.ts'
import { EXTERNAL_ID } from './sample-data.ts'

const SAMPLES = new URL('../samples/', import.meta.url)

export type TryOnRequest = Pick<Load, 'method' | 'path'> & {
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

/** Uploads a photo and a product image that a worker can use for a try-on. */
export async function sendSample({ apiKey }: Pick<Tenant, 'apiKey'>, api: string): Promise<{ imageId: string }> {
  const send = async (path: string, fields: Readonly<Record<string, string>>, file: string) => {
    const form = new FormData()
    for (const [name, value] of Object.entries(fields)) form.set(name, value)
    form.set('file', new Blob([await readFile(new URL(file, SAMPLES))]))
    const response = await fetch(`${api}/tryon/v1${path}`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: form,
    })
    const body = (await response.json()) as { imageId: string }
    if (!response.ok) throw new Error(`${path}: ${response.status} ${JSON.stringify(body)}`)
    return body
  }
  const product = { externalId: EXTERNAL_ID, title: 'T-shirt', images: [{ source: { fileKey: 'file' } }] }
  await send('/products', { data: JSON.stringify(product) }, 'garments/tshirt-mustard.jpg')
  return send('/images/upload', {}, 'persons/down-half-teal.jpg')
}

/** Posts `count` try-ons. */
export async function postTryOns(api: string, request: TryOnRequest, count: number): Promise<void> {
  const post = async () => {
    const { method, headers, body } = request
    const response = await fetch(api + request.path, { method, headers, body })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text}`)
  }
  for (let sent = 0; sent < count; sent += 50)
    await Promise.all(Array.from({ length: Math.min(50, count - sent) }, post))
}

/** Number of unfinished generations. */
export async function countUnfinished({ database }: Pick<Tenant, 'database'>): Promise<number> {
  return Number(await database.oneFirst(sql.unsafe`select count(*) from outbox`))
}
