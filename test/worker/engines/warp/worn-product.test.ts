import { readFile } from 'node:fs/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import { landmarkError } from '../../../../scripts/quality/landmark-error.ts'
import { readPair } from '../../../../scripts/quality/pair.ts'
import type { Engine, EngineInput } from '../../../../worker/engines/engine.ts'
import type { Models } from '../../../../worker/inference/models.ts'
import { findPerson } from '../../../../worker/vision/person/find-person.ts'
import { rgbToLab } from '../../../../worker/vision/raster/colour.ts'
import { medianColour, samplesOf } from '../../../../worker/vision/raster/colour-model.ts'
import { type Bitmap, bitmapToColours } from '../../../../worker/vision/raster/plane.ts'
import { fillPolygon } from '../../../../worker/vision/raster/polygon.ts'
import { between } from '../../../../worker/vision/raster/vector.ts'
import { sharedEngine, sharedModels } from '../../../support/vision.ts'

describe('a product on a person', () => {
  let engine: Engine
  let models: Models
  beforeAll(async () => {
    engine = await sharedEngine()
    models = await sharedModels()
  })

  const sample = async (path: string) => decodeImage(await readFile(path))
  const person = (name: string) => sample(`scripts/samples/persons/${name}.jpg`)
  const figure = (name: string) => sample(`test/fixtures/persons/${name}.jpg`)

  const wear = async (product: Bitmap, shopper: Bitmap, more: Partial<EngineInput> = {}) =>
    engine.run(
      {
        person: shopper,
        garment: product,
        garmentHash: crypto.randomUUID(),
        category: null,
        options: { seed: 1, mode: 'balanced' },
        ...more,
      },
      { signal: new AbortController().signal, onProgress: () => {} },
    )

  /** Median Lab colour between shoulders and hips. */
  const chestOf = async (bitmap: Bitmap) => {
    const found = await findPerson(bitmap, models)
    if (!found) throw new Error('no person')
    const { leftShoulder, rightShoulder, leftHip, rightHip } = found.landmarks
    const corners = [
      between(leftShoulder, rightHip, 0.3),
      between(rightShoulder, leftHip, 0.3),
      between(rightShoulder, leftHip, 0.6),
      between(leftShoulder, rightHip, 0.6),
    ]
    return medianColour(samplesOf(rgbToLab(bitmapToColours(bitmap)), fillPolygon(bitmap, corners)))
  }

  it('is another product than the same image without a person', async () => {
    const [garment, photo] = [await sample('scripts/samples/garments/tshirt-navy.jpg'), await person('office-man')]
    const garmentHash = crypto.randomUUID()
    expect((await wear(garment, photo, { garmentHash })).warnings).not.toContain('GARMENT_FROM_MODEL')
    await expect(wear(garment, photo, { garmentHash, garmentType: 'on_model' })).rejects.toMatchObject({
      code: 'MISSING_REQUIRED_CLASSIFICATION',
    })
  })

  it.each([
    ['garden-woman', 'standing-man'],
    ['standing-man', 'garden-woman'],
  ])('is cut off %s and laid on %s in its own colour, with a warning', async (model, shopper) => {
    const [product, photo] = [await person(model), await person(shopper)]
    const { image, warnings, detected } = await wear(product, photo)
    expect(warnings).toContain('GARMENT_FROM_MODEL')
    expect(detected).toMatchObject({ type: 'on_model', category: 'tops' })
    const [worn, laid, before] = [await chestOf(product), await chestOf(image), await chestOf(photo)]
    const apart = (other: readonly number[]) => Math.hypot(...worn.map((value, c) => value - other[c]))
    expect(apart(laid)).toBeLessThan(6)
    expect(apart(before)).toBeGreaterThan(10)
  })

  it.each([
    ['mia-tee', 'mia-mustard', 'yan-mustard', 'top'],
    ['noa-tee', 'noa-striped', 'wes-striped', 'top'],
    ['dan-shorts', 'dan-jeans', 'ada-jeans', 'lower'],
  ] as const)('has its landmarks on %s where %s has them, from a photo of %s', async (shopper, truth, model, part) => {
    const pair = await readPair('test/fixtures', { person: shopper, garment: 'tshirt_mustard', part, truth })
    const category = part === 'top' ? 'tops' : 'bottoms'
    const { landmarks = {} } = await wear(await figure(model), pair.figure.bitmap, { category })
    expect(pair.truth && landmarkError(landmarks, pair.truth, part)).toBeLessThan(5)
  })

  it.each([
    ['crossed arms', 'cal-mustard', 'tops', 'hide too much'],
    ['a top over jeans as a dress', 'ada-jeans', 'one-pieces', 'Another garment covers'],
  ] as const)('is refused for %s', async (_, name, category, message) => {
    await expect(wear(await figure(name), await person('garden-woman'), { category })).rejects.toMatchObject({
      code: 'RESULT_REJECTED',
      message: expect.stringContaining(message),
      image: 'product',
    })
  })

  it('is refused if it is classified as on_model, but shows no person', async () => {
    const garment = await sample('scripts/samples/garments/tshirt-navy.jpg')
    await expect(wear(garment, await person('garden-woman'), { garmentType: 'on_model' })).rejects.toMatchObject({
      code: 'MISSING_REQUIRED_CLASSIFICATION',
    })
  })
})
