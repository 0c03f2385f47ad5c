import { insertCompleted } from './accepted-generation.ts'
import type { Benchmark } from './benchmark.ts'
import { AT_ONCE, type Load, measureThroughput } from './load.ts'
import { alternate } from './rounds.ts'

export const getGeneration: Benchmark = {
  id: 'P12',
  what: 'GET /generations/{id} against a bare Koa handler with one select by key',
  unit: 'answers/s',
  better: 'higher',
  goal: 0.65,
  measure: async (bench) => {
    // As many as requests at once: a statement for several requests must not find one row for all of them.
    const ids: string[] = []
    while (ids.length < AT_ONCE) ids.push(await insertCompleted(bench))
    let turn = 0
    const request: Omit<Load, 'url'> = {
      method: 'GET',
      path: () => `/tryon/v1/generations/${ids[turn++ % ids.length]}`,
      headers: { 'x-api-key': bench.apiKey },
    }
    const { api, anchor } = await bench.servers()
    return alternate({
      ours: () => measureThroughput({ url: api, ...request }),
      anchor: () => measureThroughput({ url: anchor, ...request }),
      better: 'higher',
    })
  },
}
