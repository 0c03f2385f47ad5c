import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { percentile } from './percentile.ts'
import { insertSample } from './sample-data.ts'
import { bySize } from './size.ts'
import { tryOnRequest } from './try-on-request.ts'

const LIMIT_MS = 10
const SCRAPES = bySize({ smallest: 3, usual: 50 })

export const scraped: Benchmark = {
  id: 'P18',
  what: `a scrape of the API's metrics after some thousand requests, median, against ${LIMIT_MS} ms`,
  unit: 'ms',
  better: 'lower',
  goal: 1,
  measure: async (bench) => {
    const stack = await bench.startStack()
    const { url, probeUrl } = stack.api
    await measureThroughput({ url, ...tryOnRequest(stack, await insertSample(stack)) })
    const times: number[] = []
    for (let i = 0; i < SCRAPES; i++) {
      const started = performance.now()
      await (await fetch(`${probeUrl}/metrics`)).text()
      times.push(performance.now() - started)
    }
    return { ours: percentile(times, 0.5), anchor: LIMIT_MS }
  },
}
