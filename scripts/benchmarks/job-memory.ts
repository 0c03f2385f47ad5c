import { setTimeout as sleep } from 'node:timers/promises'
import type { Benchmark } from './benchmark.ts'
import { residentBytes } from './memory.ts'
import { bySize } from './size.ts'
import { countUnfinished, postTryOns, sendSample, tryOnRequest } from './try-on-request.ts'

const JOBS = bySize({
  smallest: { first: 1, last: 2 },
  usual: { first: 15, last: 60 },
  full: { first: 50, last: 1000 },
})

export const jobMemory: Benchmark = {
  id: 'P20',
  what: 'memory of a worker and its inference process after many jobs of the warp engine, against its memory after the first jobs',
  unit: 'MB',
  better: 'lower',
  goal: 1.1,
  measure: async (bench) => {
    const { first, last } = JOBS
    const stack = await bench.startStack()
    const worker = await stack.startWorker()
    const request = tryOnRequest(stack, { ...(await sendSample(stack)), engine: 'warp' })
    const measureAfter = async (jobs: number) => {
      await postTryOns(stack.api.url, request, jobs)
      while ((await countUnfinished(stack)) > 0) await sleep(100)
      return residentBytes(worker.pid) / 1e6
    }
    const anchor = await measureAfter(first)
    return { anchor, ours: await measureAfter(last - first), note: `${last} jobs against ${first}` }
  },
}
