import { beforeAll, describe, expect, it } from 'vitest'
import { type Bitmap, decodeImage } from '../../../../api/shared/image/image.ts'
import type { EngineInput } from '../../../../worker/engines/engine.ts'
import { fitOnCanvas, limitToCanvas, placeOnCanvas } from '../../../../worker/engines/fashn-vton/canvas.ts'
import { poseProduct } from '../../../../worker/engines/fashn-vton/posed.ts'
import { createProductPhoto, type ProductPhoto } from '../../../../worker/engines/fashn-vton/product.ts'
import type { Models } from '../../../../worker/inference/models.ts'
import type { Bytes } from '../../../../worker/vision/raster/bytes.ts'
import type { Mask } from '../../../../worker/vision/raster/plane.ts'
import { readSample } from '../../../support/drape.ts'
import { sharedModels } from '../../../support/vision.ts'

const CANVAS = { width: 288, height: 432 }
/** Middle of the torso, of a thigh and of the background of `standing-man`, in shares of its size. */
const TORSO = [0.48, 0.35] as const
const THIGH = [0.38, 0.6] as const
const BACKGROUND = [0.07, 0.07] as const

describe('a product photo', () => {
  let models: Models
  let worn: Bitmap
  let portrait: Bitmap
  beforeAll(async () => {
    models = await sharedModels()
    worn = await decodeImage(await readSample('persons/standing-man.jpg'))
    portrait = await decodeImage(await readSample('persons/grace-hopper.jpg'))
  })

  const photoOf = (
    garment: Bitmap,
    { category = null, garmentType }: Partial<Pick<EngineInput, 'category' | 'garmentType'>> = {},
  ): ProductPhoto => createProductPhoto({ garment, category, garmentType }, { models, canvas: CANVAS })
  const plain = (): Bitmap => ({ width: 700, height: 875, channels: 3, data: new Uint8Array(700 * 875 * 3).fill(128) })

  describe('of a worn garment', () => {
    it('yields only the garment of the category', async () => {
      const product = photoOf(worn)
      const [top, trousers, both] = await Promise.all(
        (['tops', 'bottoms', 'one-pieces'] as const).map((category) => product.worn(category)),
      )
      const seen = [top, trousers, both].map((each) => [TORSO, THIGH, BACKGROUND].map((at) => isSet(each?.mask, at)))
      expect(seen).toEqual([
        [true, false, false],
        [false, true, false],
        [true, true, false],
      ])
      expect(top?.wearer).toMatchObject({ landmarks: expect.anything() })
    })

    it.each([
      ['no such garment', () => photoOf(portrait), 'bottoms'],
      ['no person, but classified as on_model', () => photoOf(plain(), { garmentType: 'on_model' }), 'tops'],
    ] as const)('is rejected with %s', async (_what, photo, category) => {
      await expect(photo().worn(category)).rejects.toMatchObject({
        code: 'MISSING_REQUIRED_CLASSIFICATION',
        message: expect.stringContaining(`shows no person who wears ${category}`),
        details: { key: 'flat_lay' },
        retryable: false,
      })
    })

    it('determines the category of a single garment, else assumes tops', async () => {
      expect(await photoOf(portrait).category()).toMatchObject({
        category: 'tops',
        detected: { type: 'on_model', view: null, confidence: expect.any(Number) },
        warnings: [],
      })
      expect(await photoOf(worn).category()).toEqual({ category: 'tops', warnings: ['CATEGORY_ASSUMED'] })
      expect(await photoOf(worn, { category: 'bottoms' }).category()).toEqual({ category: 'bottoms', warnings: [] })
    })
  })

  it('has no wearer when it shows only a garment', async () => {
    const product = photoOf(await decodeImage(await readSample('garments/tshirt-navy.jpg')))
    expect(await product.worn('tops')).toBeNull()
    expect(await product.category()).toMatchObject({ category: 'tops', detected: { type: 'flat_lay' } })
  })

  it('is grey for FASHN VTON except for the unchanged worn garment, with the skeleton of the wearer', async () => {
    const parts = { manifest: { size: CANVAS }, wholeBody: null }
    const { bitmap, skeleton } = await poseProduct(photoOf(worn), 'tops', parts)
    const limited = limitToCanvas(worn, CANVAS)
    const whole = fitOnCanvas(limited, CANVAS)
    const place = placeOnCanvas(limited, CANVAS)
    const at = ([x, y]: readonly [number, number]) =>
      (Math.round(place.y + y * place.height) * CANVAS.width + Math.round(place.x + x * place.width)) * 3
    const rgb = (bytes: Bytes, from: number) => [...bytes.data.subarray(from, from + 3)]
    expect(rgb(bitmap, at(TORSO))).toEqual(rgb(whole, at(TORSO)))
    for (const hidden of [THIGH, BACKGROUND]) expect(rgb(bitmap, at(hidden))).toEqual([127, 127, 127])
    expect(skeleton.data.some((value) => value > 0)).toBe(true)
  })
})

function isSet(mask: Mask | undefined, [x, y]: readonly [number, number]): boolean {
  if (!mask) throw new Error('no garment was found')
  return mask.data[Math.round(y * mask.height) * mask.width + Math.round(x * mask.width)] === 1
}
