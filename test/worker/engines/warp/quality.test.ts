import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { measureQuality } from '../../../../scripts/quality/measure.ts'
import { readPair, readPairNames } from '../../../../scripts/quality/pair.ts'
import { blendChange } from '../../../../worker/composite/blend.ts'
import type { Engine } from '../../../../worker/engines/engine.ts'
import { createWarpEngine } from '../../../../worker/engines/warp/warp-engine.ts'
import { type Models, openModels } from '../../../../worker/inference/models.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')
const NAMES = await readPairNames(FIXTURES)

let models: Models
let engine: Engine

beforeAll(async () => {
  models = await openModels('worker/models')
  engine = createWarpEngine({ models })
})
afterAll(() => models.release())

describe('the warp engine on figures of which everything is known', () => {
  it.each(NAMES.map((name) => [name.person, name.garment, name] as const))(
    'dresses %s in %s',
    async (_person, _garment, name) => {
      const pair = await readPair(FIXTURES, name)
      const result = await engine.run(
        {
          person: pair.figure.picture,
          garment: pair.garment.picture,
          garmentHash: name.garment,
          category: null,
          options: { seed: 1, mode: 'balanced' },
        },
        { signal: new AbortController().signal, onProgress: () => {} },
      )
      const image = blendChange({ photo: pair.figure.picture, ...result })
      const { covered, overlap, edges, colour, face, outside } = measureQuality(pair, { ...result, image })
      expect(covered).toBeGreaterThan(0.97)
      expect(overlap ?? 1).toBeGreaterThan(0.88)
      expect(edges ?? 0).toBeLessThan(2.5)
      expect(colour).toBeLessThan(5)
      expect([face, outside]).toEqual([0, 0])
    },
  )
})
