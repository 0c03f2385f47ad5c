import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'
import { EXTERNAL_ID, insertSample } from './sample-data.ts'

export const postTryOn: Benchmark = {
  id: 'P1',
  what: 'POST /try-on by reference against a bare Koa handler with the same statement',
  unit: 'answers/s',
  better: 'higher',
  goal: 3,
  measure: async (bench) => {
    const { imageId } = await insertSample(bench)
    const { api, anchor } = await bench.servers()
    const request = { method: 'POST', path: '/tryon/v1/try-on' } as const
    const headers = { 'content-type': 'application/json', 'x-api-key': bench.apiKey }
    const body = JSON.stringify({
      products: [{ externalId: EXTERNAL_ID }],
      person: { image: { source: { id: imageId } } },
    })
    const call = JSON.stringify({ accountId: bench.accountId, imageId, externalId: EXTERNAL_ID })
    return alternate({
      ours: () => measureThroughput({ url: api, ...request, headers, body }),
      anchor: () => measureThroughput({ url: anchor, ...request, headers, body: call }),
      better: 'higher',
    })
  },
}
