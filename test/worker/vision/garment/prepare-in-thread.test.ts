import { afterAll, describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { createGarmentThread } from '../../../../worker/vision/garment/prepare-in-thread.ts'
import type { Bitmap } from '../../../../worker/vision/raster/plane.ts'
import { CUTS, drawGarment } from './drawn-garments.ts'
import { prepareGarment } from './prepare-by-outline.ts'

const asked: string[] = []
const thread = createGarmentThread(async (name) => {
  asked.push(name)
  if (name === 'salience') return new Float32Array(320 * 320)
  throw new Error('the model failed')
})
afterAll(() => thread.stop())

const options = { category: 'tops', longest: 1400 } as const
const { bitmap } = drawGarment({ cut: CUTS.tee, colour: [40, 80, 160], background: [255, 255, 255], size: 350 })
const plain: Bitmap = { width: 200, height: 250, channels: 3, data: new Uint8Array(150_000).fill(230) }

describe('the garment thread', () => {
  it('returns the prepared garment, and does not change the image', async () => {
    const before = Uint8Array.from(bitmap.data)
    expect(await thread.prepare(bitmap, options)).toEqual(prepareGarment(bitmap, options))
    expect(Uint8Array.from(bitmap.data)).toEqual(before)
  })

  it('reports a rejection, and processes the next image', async () => {
    const [refusal, garment] = await Promise.allSettled([
      thread.prepare(plain, options),
      thread.prepare(bitmap, options),
    ])
    expect(refusal).toMatchObject({ status: 'rejected', reason: { code: 'RESULT_REJECTED', retryable: false } })
    expect(garment).toMatchObject({ status: 'fulfilled', value: { kind: 'top' } })
    expect(asked).toEqual(['salience'])
  })

  it('fails a job whose model fails, and prepares the next garment', async () => {
    const failed = thread.prepare(bitmap, { ...options, category: null })
    await expect(failed).rejects.toMatchObject({ code: 'GENERATION_FAILED', cause: { message: 'the model failed' } })
    expect(await thread.prepare(bitmap, options)).toMatchObject({ kind: 'top' })
  })

  it('fails a job as retryable when it exits, and restarts for the retry', async () => {
    const cut = thread.prepare(bitmap, options).catch((error: unknown) => error)
    await thread.stop()
    const error = await cut
    expect(error).toBeInstanceOf(DrapeError)
    expect(error).toMatchObject({ code: 'GENERATION_FAILED', retryable: true })
    expect(await thread.prepare(bitmap, options)).toMatchObject({ kind: 'top' })
  })
})
