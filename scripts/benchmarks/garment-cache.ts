import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { createEngines } from '../../worker/engines/registry.ts'
import { openModels } from '../../worker/inference/models.ts'
import { tryOn } from '../../worker/job/try-on.ts'
import type { Benchmark } from './benchmark.ts'
import { alternate } from './rounds.ts'
import { requestFor } from './warp-job.ts'

const MODELS = fileURLToPath(new URL('../../worker/models', import.meta.url))
const SAMPLES = new URL('../samples/', import.meta.url)

export const garmentCache: Benchmark = {
  id: 'P19',
  what: 'processor time of a try-on by the warp engine with a cached garment, against a new garment',
  unit: 'ms',
  better: 'lower',
  goal: 0.8,
  measure: async () => {
    const models = await openModels(MODELS)
    const engines = await createEngines(['warp'], { models })
    const [photo, garment] = await Promise.all(
      ['persons/down-half-teal.jpg', 'garments/tshirt-mustard.jpg'].map((path) => readFile(new URL(path, SAMPLES))),
    )
    let seen = 0
    const timed = async (garmentHash: string) => {
      const request = requestFor({ photo, garment, garmentHash })
      const before = process.cpuUsage()
      await tryOn(request, { models, engines, signal: new AbortController().signal, onProgress: () => {} })
      const { user, system } = process.cpuUsage(before)
      return (user + system) / 1000
    }
    try {
      return await alternate({
        ours: () => timed('known'),
        anchor: () => timed(`new ${seen++}`),
        better: 'lower',
      })
    } finally {
      await models.release()
    }
  },
}
