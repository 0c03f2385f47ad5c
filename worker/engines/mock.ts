import { copyRgb } from '../composite/blend.ts'
import { CATEGORIES } from '../garment/garment.ts'
import { createPlane } from '../raster/plane.ts'
import type { Engine, EngineManifest } from './engine.ts'

export const MOCK_MANIFEST: EngineManifest = {
  name: 'mock',
  version: '1.0.0',
  kind: 'test',
  license: { spdx: 'Apache-2.0', commercial: true },
  accepts: {
    categories: CATEGORIES,
    garmentTypes: ['flat_lay', 'ghost_mannequin', 'on_model', 'detail', 'other'],
    needsPerson: false,
  },
  aiGenerated: false,
  ignores: ['seed', 'mode'],
}

/** An engine for integrators' tests: the result is the person's photo with no pixel changed. */
export function createMockEngine(): Engine {
  return {
    manifest: MOCK_MANIFEST,
    async run({ person }, { signal, onProgress }) {
      signal.throwIfAborted()
      onProgress(1)
      return { image: copyRgb(person), change: createPlane(person), warnings: [], timings: {} }
    },
  }
}
