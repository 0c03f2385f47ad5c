import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Stack } from './bench.ts'
import type { Benchmark } from './benchmark.ts'
import { measureThroughput } from './load.ts'
import { bySize } from './size.ts'
import { countUnfinished, postTryOns, sendSample, tryOnRequest } from './try-on-request.ts'

const JOBS = bySize({ smallest: 1, usual: 12 })
const SECONDS = bySize({ smallest: 1, usual: 6 })

export const eventLoopGap: Benchmark = {
  id: 'P8',
  what: 'the longest gap in the event loops of the API and of the worker while both work, against one inference',
  unit: 's',
  better: 'lower',
  goal: 0.3,
  measure: async (bench) => {
    const stack = await bench.startStack()
    const worker = await stack.startWorker()
    const { imageId } = await sendSample(stack)
    const request = tryOnRequest(stack, { imageId, engine: 'warp' })
    const figures = () => Promise.all([stack.api, worker].map(({ probeUrl }) => scrape(probeUrl)))
    // The metrics report the longest gap since the last scrape.
    const [, before] = await figures()
    await postTryOns(stack.api.url, request, JOBS)
    await Promise.all([
      measureThroughput(
        { url: stack.api.url, ...request, method: 'GET', path: '/tryon/v1/products' },
        { seconds: SECONDS },
      ),
      uploadFor(SECONDS, stack),
    ])
    while ((await countUnfinished(stack)) > 0) await sleep(50)
    const after = await figures()
    const gaps = after.map((figure) => figure('nodejs_eventloop_lag_max_seconds'))
    const [seconds, runs] = ['sum', 'count'].map((part) => {
      const name = `drape_stage_seconds_${part}{engine="warp",stage="engine"}`
      return after[1](name) - before(name)
    })
    return { ours: Math.max(...gaps), anchor: seconds / runs }
  },
}

async function uploadFor(seconds: number, { api, apiKey }: Stack): Promise<void> {
  const form = new FormData()
  const photo = await readFile(new URL('../samples/persons/down-half-teal.jpg', import.meta.url))
  form.set('file', new Blob([new Uint8Array(photo)]))
  const until = performance.now() + seconds * 1000
  while (performance.now() < until) {
    const response = await fetch(`${api.url}/tryon/v1/images/upload`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: form,
    })
    await response.text()
  }
}

/** Reads values by name and labels; 0 for a missing series. */
async function scrape(probeUrl: string): Promise<(name: string) => number> {
  const text = await (await fetch(`${probeUrl}/metrics`)).text()
  const values = new Map(text.split('\n').map((line) => line.split(' ') as [string, string]))
  return (name) => Number(values.get(name) ?? 0)
}
