import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Scenario } from '../support/scenario.ts'

const PAGE_BYTES = 4096

export const steadyLoad: Scenario<{ seconds: number; perSecond: number; memoryRatio: number }> = {
  id: 'R18',
  what: 'it is ordered from without a pause',
  quick: { seconds: 10, perSecond: 20, memoryRatio: 3 },
  full: { seconds: Number(process.env.FAULT_SECONDS ?? 3600), perSecond: 20, memoryRatio: 1.1 },
  run: async ({ platform, size, random }) => {
    const shops = await Promise.all(
      Array.from({ length: 5 }, () => platform.openShop({ credits: size.seconds * size.perSecond })),
    )
    const workers = await platform.startWorkers(3)
    await platform.replicas.untilHealthy()
    const fleets = { api: [...platform.replicas.members], worker: [...workers.members] }
    const programs = [...fleets.api, ...fleets.worker]
    /** Resolves with the peak memory of each program. */
    const orderFor = async (seconds: number): Promise<number[]> => {
      const peaks = programs.map(() => 0)
      const watch = setInterval(() => {
        for (const [i, { pid }] of programs.entries()) peaks[i] = Math.max(peaks[i], residentBytes(pid))
      }, 500)
      const ended = performance.now() + seconds * 1000
      while (performance.now() < ended) {
        random.pick(shops).order({ imageMs: random.between(0, 30) })
        await sleep(1000 / size.perSecond)
      }
      await platform.settle()
      clearInterval(watch)
      return peaks
    }
    await orderFor(size.seconds / 4)
    // Peaks, because a garbage collector frees memory at any time.
    const before = await orderFor(size.seconds / 4)
    await orderFor(size.seconds / 4)
    const after = await orderFor(size.seconds / 4)
    const ratios = after.map((bytes, i) => bytes / before[i])
    const most = (from: number, to?: number) => Math.max(...ratios.slice(from, to))
    await workers.stop()
    const accepted = shops.flatMap((shop) => [...shop.accepted])
    const refused = shops.flatMap(({ orders }) => orders).length - accepted.length
    const ratio = most(0)
    return {
      accepted,
      injected: { seconds: size.seconds },
      measured: {
        'memory ratio of an API': most(0, fleets.api.length),
        'memory ratio of a worker': most(fleets.api.length),
        'MB before': Math.max(...before) / 1e6,
        refused,
      },
      violations: [
        ...(ratio > size.memoryRatio ? [`the memory of a process grew ${ratio} fold`] : []),
        ...(refused > 0 ? [`${refused} orders were not accepted`] : []),
      ],
    }
  },
}

/** Memory as reported by Linux; constant on other systems. */
function residentBytes(pid: number): number {
  if (process.platform !== 'linux') return PAGE_BYTES
  return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * PAGE_BYTES
}
