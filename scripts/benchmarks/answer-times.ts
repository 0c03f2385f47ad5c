import { insertCompleted } from './accepted-generation.ts'
import type { Bench } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { EXTERNAL_ID, insertSample } from './sample-data.ts'

/** Max median response time in ms, except for uploads and external downloads. */
const LIMIT_MS = 50
const ANSWERS = 100

interface Call {
  readonly method: string
  /** Path below `/tryon/v1`. */
  readonly path: string
  readonly body?: unknown
}

interface Names {
  readonly generationId: string
  readonly imageId: string
}

/** The n-th request to each endpoint. */
const CALLS: readonly ((names: Names, n: number) => Call)[] = [
  ({ imageId }) => ({
    method: 'POST',
    path: '/try-on',
    body: { products: [{ externalId: EXTERNAL_ID }], person: { image: { source: { id: imageId } } } },
  }),
  ({ generationId }) => ({ method: 'GET', path: `/generations/${generationId}` }),
  ({ generationId }) => ({ method: 'POST', path: `/generations/${generationId}/cancel` }),
  (_, n) => ({
    method: 'POST',
    path: '/products',
    body: { externalId: `p${n}`, images: [{ source: { url: 'https://shop.example/p.jpg' } }] },
  }),
  () => ({ method: 'GET', path: '/products?limit=50' }),
  () => ({ method: 'GET', path: `/products/${EXTERNAL_ID}` }),
  () => ({ method: 'GET', path: `/products/${EXTERNAL_ID}/stats` }),
  (_, n) => ({ method: 'DELETE', path: `/products/p${n}` }),
  () => ({ method: 'GET', path: '/account' }),
  () => ({ method: 'GET', path: '/account/credits' }),
  (_, n) => ({ method: 'DELETE', path: `/customers/customer-${n}` }),
  () => ({ method: 'GET', path: '/openapi.json' }),
]

/** Median response time of each endpoint, with sequential requests. */
export const answerTimes: readonly Benchmark[] = CALLS.map((call, i) => {
  const { method, path } = call({ generationId: '{id}', imageId: '' }, 0)
  return {
    id: `A${i + 1}`,
    what: `${method} ${path}, median, against ${LIMIT_MS} ms`,
    unit: 'ms',
    better: 'lower',
    goal: 1,
    stretch: 0.2,
    measure: async (bench) => {
      const names = { ...(await insertSample(bench)), generationId: await insertCompleted(bench) }
      const times: number[] = []
      for (let n = 0; n < ANSWERS; n++) times.push(await timeOf(call(names, n), bench))
      return { ours: times.sort((a, b) => a - b)[ANSWERS / 2], anchor: LIMIT_MS }
    },
  }
})

async function timeOf({ method, path, body }: Call, bench: Bench): Promise<number> {
  const { api } = await bench.servers()
  const started = performance.now()
  const response = await fetch(`${api}/tryon/v1${path}`, {
    method,
    headers: { 'x-api-key': bench.apiKey, ...(body !== undefined && { 'content-type': 'application/json' }) },
    body: body === undefined ? undefined : JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return performance.now() - started
}
