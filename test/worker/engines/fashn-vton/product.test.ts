import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bitmap, decodeImage } from '../../../../api/shared/image/image.ts'
import type { EngineInput } from '../../../../worker/engines/engine.ts'
import { fitOnCanvas, limitToCanvas } from '../../../../worker/engines/fashn-vton/canvas.ts'
import { createParser, type Parser } from '../../../../worker/engines/fashn-vton/parser/parse.ts'
import { poseProduct } from '../../../../worker/engines/fashn-vton/posed.ts'
import { createProductPhoto, type ProductPhoto } from '../../../../worker/engines/fashn-vton/product.ts'
import type { Models } from '../../../../worker/inference/models.ts'
import { openSession, type Session } from '../../../../worker/inference/session.ts'
import type { Bytes } from '../../../../worker/vision/raster/bytes.ts'
import type { Mask } from '../../../../worker/vision/raster/plane.ts'
import { readSample } from '../../../support/drape.ts'
import { sharedModels } from '../../../support/vision.ts'
import { paint, wornPhoto } from '../../../support/worn-photo.ts'

const PARSER = new URL('../../../fixtures/parser/parser.onnx', import.meta.url).pathname
const CANVAS = { width: 288, height: 432 }
/** Middle of the torso, of a thigh and of the background of `wornPhoto`, in shares of its size. */
const TORSO = [0.5, 0.37] as const
const THIGH = [0.45, 0.65] as const
const BACKGROUND = [0.07, 0.07] as const

// The graph takes red for a top and green for pants.
describe('a product photo', () => {
  let models: Models
  let graph: Session
  let parser: Parser
  beforeAll(async () => {
    models = await sharedModels()
    graph = await openSession(PARSER)
    parser = createParser(graph)
  })
  afterAll(async () => {
    await graph?.release()
  })

  const photoOf = (
    garment: Bitmap,
    {
      category = null,
      garmentType,
      ...parts
    }: Partial<Pick<EngineInput, 'category' | 'garmentType'>> & { parser?: null } = {},
  ): ProductPhoto => {
    return createProductPhoto({ garment, category, garmentType }, { models, parser, canvas: CANVAS, ...parts })
  }
  const plain = (): Bitmap => ({ width: 700, height: 875, channels: 3, data: new Uint8Array(700 * 875 * 3).fill(128) })

  describe('of a worn garment', () => {
    it('yields only the garment of the category', async () => {
      const product = photoOf(await wornPhoto(['top', 'pants']))
      const [top, pants, both] = await Promise.all(
        (['tops', 'bottoms', 'one-pieces'] as const).map((category) => product.worn(category)),
      )
      const seen = [top, pants, both].map((worn) => [TORSO, THIGH, BACKGROUND].map((at) => isSet(worn?.mask, at)))
      expect(seen).toEqual([
        [true, false, false],
        [false, true, false],
        [true, true, false],
      ])
      expect(top?.wearer).toMatchObject({ landmarks: expect.anything() })
    })

    it('excludes objects beside the wearer', async () => {
      const photo = await wornPhoto(['top'])
      paint(photo, { x: 20, y: 40, width: 60, height: 60 }, [230, 30, 30])
      const worn = await photoOf(photo).worn('tops')
      expect([TORSO, BACKGROUND].map((at) => isSet(worn?.mask, at))).toEqual([true, false])
    })

    it.each([
      ['no such garment', ['top'], 'bottoms', 0],
      ['no garment', [], 'tops', 0],
      ['a spot that the parser takes for the garment', ['top'], 'bottoms', 12],
    ] as const)('is rejected with %s', async (_what, parts, category, spot) => {
      const photo = await wornPhoto(parts)
      paint(photo, { x: 345, y: 600, width: spot, height: spot }, [20, 200, 30])
      await expect(photoOf(photo).worn(category)).rejects.toMatchObject({
        code: 'MISSING_REQUIRED_CLASSIFICATION',
        message: expect.stringContaining(`shows no person who wears ${category}`),
        details: { key: 'flat_lay' },
        retryable: false,
      })
    })

    it('is rejected without a parser, whether the wearer is detected or declared', async () => {
      const refused = { code: 'MISSING_REQUIRED_CLASSIFICATION', message: expect.stringContaining('on a person') }
      const worn = photoOf(await wornPhoto(['top']), { parser: null })
      await expect(worn.worn('tops')).rejects.toMatchObject(refused)
      const headless = photoOf(plain(), { parser: null, garmentType: 'on_model' })
      await expect(headless.worn('tops')).rejects.toMatchObject(refused)
    })

    it('needs no detected wearer when declared as on_model', async () => {
      const photo = plain()
      paint(photo, { x: 200, y: 0, width: 300, height: 875 }, [230, 30, 30])
      expect(await photoOf(photo).worn('tops')).toBeNull()
      const worn = await photoOf(photo, { garmentType: 'on_model' }).worn('tops')
      expect([isSet(worn?.mask, TORSO), isSet(worn?.mask, BACKGROUND), worn?.wearer]).toEqual([true, false, null])
    })

    it('determines the category of a single garment, else assumes tops', async () => {
      const categoryOf = async (parts: Parameters<typeof wornPhoto>[0]) => photoOf(await wornPhoto(parts)).category()
      const detected = { type: 'on_model', view: null, confidence: 1 }
      expect(await categoryOf(['pants'])).toMatchObject({ category: 'bottoms', detected, warnings: [] })
      expect(await categoryOf(['top'])).toMatchObject({ category: 'tops', detected, warnings: [] })
      expect(await categoryOf(['top', 'pants'])).toEqual({ category: 'tops', warnings: ['CATEGORY_ASSUMED'] })
      const named = photoOf(await wornPhoto(['top']), { category: 'bottoms' })
      expect(await named.category()).toEqual({ category: 'bottoms', warnings: [] })
    })
  })

  it('has no wearer when it shows only a garment', async () => {
    const product = photoOf(await decodeImage(await readSample('garments/tshirt-navy.jpg')))
    expect(await product.worn('tops')).toBeNull()
    expect(await product.category()).toMatchObject({ category: 'tops', detected: { type: 'flat_lay' } })
  })

  describe('for FASHN VTON', () => {
    const pose = (product: ProductPhoto) =>
      poseProduct(product, 'tops', { manifest: { size: CANVAS }, parser, wholeBody: null })

    it('is grey except for the unchanged worn garment, with the skeleton of the wearer', async () => {
      const photo = await wornPhoto(['top', 'pants'])
      const { bitmap, skeleton } = await pose(photoOf(photo))
      const whole = fitOnCanvas(limitToCanvas(photo, CANVAS), CANVAS)
      // The photo is 288 × 360 on the canvas, with 36 rows of padding above.
      const at = ([x, y]: readonly [number, number]) => (Math.round(36 + y * 360) * 288 + Math.round(x * 288)) * 3
      const rgb = (bytes: Bytes, from: number) => [...bytes.data.subarray(from, from + 3)]
      expect(rgb(bitmap, at(TORSO))).toEqual(rgb(whole, at(TORSO)))
      for (const place of [THIGH, BACKGROUND]) expect(rgb(bitmap, at(place))).toEqual([127, 127, 127])
      expect(rgb(bitmap, 0)).toEqual([0, 0, 0])
      expect(hasGreen(bitmap)).toBe(false)
      expect(skeleton.data.some((value) => value > 0)).toBe(true)
    })

    it('has no skeleton when no person is detected', async () => {
      const photo = plain()
      paint(photo, { x: 200, y: 0, width: 300, height: 875 }, [230, 30, 30])
      const { bitmap, skeleton } = await pose(photoOf(photo, { garmentType: 'on_model' }))
      expect(skeleton.data.some((value) => value > 0)).toBe(false)
      expect([...bitmap.data.subarray((216 * 288 + 144) * 3, (216 * 288 + 144) * 3 + 3)]).toEqual([230, 30, 30])
    })
  })
})

function isSet(mask: Mask | undefined, [x, y]: readonly [number, number]): boolean {
  if (!mask) throw new Error('no garment was found')
  return mask.data[Math.round(y * mask.height) * mask.width + Math.round(x * mask.width)] === 1
}

function hasGreen({ data }: Bytes): boolean {
  return [...data.keys()].some((i) => i % 3 === 1 && data[i] > data[i - 1] + 50)
}
