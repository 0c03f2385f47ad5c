import { describe, expect, it } from 'vitest'
import { createMockEngine } from '../../../worker/engines/mock.ts'
import { blendChange } from '../../../worker/vision/composite/blend.ts'
import type { Bitmap } from '../../../worker/vision/raster/plane.ts'

const photo: Bitmap = { width: 8, height: 10, channels: 3, data: new Uint8Array(240).map((_, i) => (i * 37) % 256) }
const input = {
  person: photo,
  garment: photo,
  garmentHash: '0',
  category: null,
  options: { seed: 0, mode: 'fast' as const },
}

describe('the mock engine', () => {
  it('returns the photo unchanged', async () => {
    const result = await createMockEngine().run(input, { signal: new AbortController().signal, onProgress: () => {} })
    expect(result.image).toEqual(photo)
    expect(blendChange({ photo, ...result })).toEqual(photo)
  })

  it('rejects with the reason of the signal', async () => {
    const reason = new Error('too late')
    const run = createMockEngine().run(input, { signal: AbortSignal.abort(reason), onProgress: () => {} })
    await expect(run).rejects.toBe(reason)
  })
})
