import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { measureQuality } from '../../../../scripts/quality/measure.ts'
import { readPair, readPairNames } from '../../../../scripts/quality/pair.ts'
import type { Engine } from '../../../../worker/engines/engine.ts'
import { createWarpEngine } from '../../../../worker/engines/warp/warp-engine.ts'
import { type Models, openModels } from '../../../../worker/inference/models.ts'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')
const NAMES = (await readPairNames(FIXTURES)).filter(({ tested }) => tested)

let models: Models
let engine: Engine

beforeAll(async () => {
  models = await openModels('worker/models')
  engine = createWarpEngine({ models })
})
afterAll(() => models.release())

describe('the warp engine on rendered figures with ground truth', () => {
  it.each(NAMES.map((name) => [name.person, name.garment, name] as const))(
    'dresses %s in %s',
    async (_person, _garment, name) => {
      const pair = await readPair(FIXTURES, name)
      const result = await engine.run(
        {
          person: pair.figure.bitmap,
          garment: pair.garment.bitmap,
          garmentHash: name.garment,
          category: null,
          options: { seed: 1, mode: 'balanced' },
        },
        { signal: new AbortController().signal, onProgress: () => {} },
      )
      const image = blendChange({ photo: pair.figure.bitmap, ...result })
      const quality = measureQuality(pair, { ...result, image })
      const { landmarks, covered, overlap, edges, colour, similarity, face, hands, outside, stray } = quality
      expect(covered).toBeGreaterThan(0.98)
      // The true garment's cut is not quite the product's: its hem and sleeves end elsewhere.
      expect(overlap ?? 1).toBeGreaterThan(0.69)
      expect(edges ?? 0).toBeLessThan(2.4)
      expect(colour).toBeLessThan(5)
      expect(landmarks ?? 0).toBeLessThan(4.4)
      expect(similarity ?? 1).toBeGreaterThan(0.3)
      expect([face, hands, outside, stray]).toEqual([0, 0, 0, 0])
    },
  )
})
