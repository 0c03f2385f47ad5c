import { openAsBlob } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { CheckFailure } from '../failure.ts'
import { type Options, required } from '../options.ts'
import { ask, expectStatus } from './ask.ts'
import { withCheckAccount } from './check-account.ts'
import { publicUrl } from './environment.ts'

/** A sample pair that the warp engine supports. */
const IMAGES = {
  person: new URL('../../../worker/inference/self-test/person.jpg', import.meta.url),
  garment: new URL('../../../worker/inference/self-test/garment.jpg', import.meta.url),
}
const CUSTOMER = 'installation-check'
const POLL_MS = 250

interface Generation {
  readonly status: string
  readonly errorCode?: string | null
  readonly errorMessage?: string | null
  readonly resultImageUrl?: string
  readonly engine?: { readonly name: string }
}

/** A job passes through database, queue and worker and back. Costs no credit. */
export function checkQueue(options: Options): Promise<Record<string, unknown>> {
  return checkEngine('mock', options)
}

/** A try-on completes, and its result can be downloaded. Costs a credit of the check account. */
export function checkTryOn(options: Options): Promise<Record<string, unknown>> {
  return checkEngine('warp', options)
}

async function checkEngine(engine: 'mock' | 'warp', options: Options): Promise<Record<string, unknown>> {
  const url = required(options.url, 'url')
  return withCheckAccount(async (key) => {
    const headers = { 'x-api-key': key }
    const startedAt = performance.now()
    try {
      const body = await tryOnForm(engine)
      const accepted = await expectStatus(201, `${url}/tryon/v1/try-on`, { method: 'POST', headers, body })
      const { generationId } = (await accepted.json()) as { generationId: string }
      const finished = await waitForEnd(`${url}/tryon/v1/generations/${generationId}`, headers)
      const seconds = Math.round(performance.now() - startedAt) / 1000
      return { generationId, engine, seconds, resultBytes: await fetchResult(finished, url) }
    } finally {
      await ask(`${url}/tryon/v1/customers/${CUSTOMER}`, { method: 'DELETE', headers })
    }
  })
}

async function tryOnForm(engine: string): Promise<FormData> {
  const form = new FormData()
  const data = {
    products: [{ title: 'T-shirt', images: [{ source: { fileKey: 'garment' } }] }],
    person: { image: { source: { fileKey: 'person' } } },
    externalUserId: CUSTOMER,
    output: { engine, deadlineSeconds: 120 },
  }
  form.set('data', JSON.stringify(data))
  for (const [name, file] of Object.entries(IMAGES)) {
    form.set(name, await openAsBlob(fileURLToPath(file), { type: 'image/jpeg' }), `${name}.jpg`)
  }
  return form
}

/** Ends at the generation's deadline at the latest. */
async function waitForEnd(url: string, headers: Record<string, string>): Promise<Generation> {
  for (;;) {
    const generation = (await (await expectStatus(200, url, { headers })).json()) as Generation
    if (generation.status === 'COMPLETED') return generation
    if (generation.status === 'FAILED') {
      throw new CheckFailure(`The try-on failed: ${generation.errorCode ?? ''} ${generation.errorMessage ?? ''}`)
    }
    await sleep(POLL_MS)
  }
}

/** Result links use the public URL, which pods of the cluster may be unable to reach. */
async function fetchResult({ resultImageUrl }: Generation, url: string): Promise<number> {
  if (!resultImageUrl) throw new CheckFailure('The result has no image')
  const base = publicUrl().replace(/\/$/, '')
  const link = resultImageUrl.startsWith(base) ? url + resultImageUrl.slice(base.length) : resultImageUrl
  const bytes = Buffer.from(await (await expectStatus(200, link)).arrayBuffer())
  if (!bytes.subarray(0, 3).equals(JPEG)) throw new CheckFailure('The result is not a JPEG')
  return bytes.length
}

const JPEG = Buffer.from([0xff, 0xd8, 0xff])
