import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Benchmark } from './benchmark.ts'
import { SECONDS } from './load.ts'
import { alternate } from './rounds.ts'
import { largePhoto } from './sample-photos.ts'
import { bySize } from './size.ts'

const PHOTOS = bySize({ smallest: 2, usual: 8 })

/** DNS lookup times while photos are processed, which fill the thread pool of the process. */
export const nameTimes: readonly Benchmark[] = (
  [
    ['P15', 'p50', 'median'],
    ['P15b', 'p99', '99 of 100'],
  ] as const
).map(([id, share, words]) => ({
  id,
  what: `DNS lookups (${words}) while ${PHOTOS} photos of 12 megapixels are processed, against an idle process`,
  unit: 'ms',
  better: 'lower',
  goal: 5,
  measure: async ({ startBare, logFolder }) => {
    const path = join(logFolder, 'photo.jpg')
    await writeFile(path, await largePhoto())
    const bare = await startBare('scripts/benchmarks/names-process.ts', { pinned: false, env: { PHOTO: path } })
    const ask = async (photos: number) => {
      const answer = await fetch(`${bare.url}/?photos=${photos}&seconds=${SECONDS}`)
      return ((await answer.json()) as Record<typeof share, number>)[share]
    }
    return alternate({ ours: () => ask(PHOTOS), anchor: () => ask(0), better: 'lower' })
  },
}))
