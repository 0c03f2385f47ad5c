import { copyRgb } from '../vision/composite/blend.ts'
import { createPlane } from '../vision/raster/plane.ts'
import { type Engine, manifestOf } from './engine.ts'

export const MOCK_MANIFEST = manifestOf('mock', {
  version: '1.0.0',
  needsPerson: false,
  aiGenerated: false,
  ignores: ['seed', 'mode'],
})

/** An engine for integrators' tests: returns the person's photo unchanged. */
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
