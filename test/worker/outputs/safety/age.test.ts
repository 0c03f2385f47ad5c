import { readFile } from 'node:fs/promises'
import sharp from 'sharp'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Bitmap, decodeImage } from '../../../../api/shared/image/image.ts'
import type { Models } from '../../../../worker/inference/models.ts'
import { AGE_MODEL, estimateAge } from '../../../../worker/outputs/safety/age.ts'
import { movePoints, type Person } from '../../../../worker/vision/person/person.ts'
import { type Region, viewRegion } from '../../../../worker/vision/person/region.ts'
import { createPyramid } from '../../../../worker/vision/raster/pyramid.ts'
import { readSample } from '../../../support/drape.ts'
import { personIn, sharedModels } from '../../../support/vision.ts'

interface Reference {
  readonly waves: number
  readonly squares: Readonly<Record<string, Pick<Region, 'centre' | 'side'> & { readonly age: number }>>
  readonly faces: Readonly<Record<string, number>>
}

describe('the age model', () => {
  let models: Models
  let reference: Reference
  let photo: Bitmap
  let person: Person
  beforeAll(async () => {
    models = await sharedModels()
    reference = JSON.parse(await readFile('test/worker/outputs/safety/age-reference.json', 'utf8'))
    photo = await decodeImage(await readSample('persons/astronaut.jpg'))
    person = await personIn(photo)
  })

  const estimate = (bitmap: Bitmap, shown: Pick<Person, 'face' | 'landmarks'>) =>
    estimateAge(bitmap, shown, models.session(AGE_MODEL))

  /** An input without an image file: three colours of waves. */
  const waves = () =>
    Float32Array.from({ length: 112 * 112 * 3 }, (_, i) => {
      const [c, x, y] = [i % 3, Math.floor(i / 3) % 112, Math.floor(i / 336)]
      return 0.5 + 0.5 * Math.sin((x * (c + 1) + 2 * y) / 19)
    })

  it('matches the original model in TensorFlow.js', async () => {
    const run = async (data: Float32Array) => {
      const { age } = await models.session(AGE_MODEL).run({ image: { shape: [1, 112, 112, 3], data } })
      expect(age.data).toHaveLength(1)
      return age.data[0]
    }
    expect(Math.abs((await run(waves())) - reference.waves)).toBeLessThan(1e-3)
    for (const [name, { age, ...square }] of Object.entries(reference.squares)) {
      const pyramid = createPyramid(await decodeImage(await readSample(name)))
      const view = { size: 112, border: 'replicate', range: [0, 1] } as const
      expect(Math.abs((await run(viewRegion(pyramid, { ...square, angle: 0 }, view))) - age)).toBeLessThan(1e-3)
    }
    expect(Object.keys(reference.squares)).toHaveLength(3)
  })

  it('sees the part of the photo that the original package detects and crops itself', async () => {
    for (const [name, age] of Object.entries(reference.faces)) {
      const bitmap = await decodeImage(await readSample(name))
      const found = await estimate(bitmap, await personIn(bitmap))
      expect(Math.abs((found ?? Number.NaN) - age), name).toBeLessThan(6)
    }
    expect(Object.keys(reference.faces)).toHaveLength(3)
  })

  it('fails if the model returns no number', async () => {
    const run = async () => ({ age: { shape: [1, 1], data: Float32Array.of(Number.NaN) } })
    await expect(estimateAge(photo, person, { ...models.session(AGE_MODEL), run })).rejects.toThrow('returned NaN')
  })

  it('estimates nothing from a face that is hidden, turned, tilted, cut off or small', async () => {
    expect(await estimate(photo, person)).toBeGreaterThan(20)
    expect(await estimate(photo, { ...person, face: null })).toBeNull()
    const turned = await decodeImage(await readSample('persons/photographer.jpg'))
    const aside = await personIn(turned)
    expect(aside.face).not.toBeNull()
    expect(await estimate(turned, aside)).toBeNull()
    const { leftEye, rightEye } = person.landmarks
    const raised = { ...leftEye, y: leftEye.y - (leftEye.x - rightEye.x) }
    expect(await estimate(photo, { ...person, landmarks: { ...person.landmarks, leftEye: raised } })).toBeNull()
    const cut = Math.round(person.landmarks.nose.y)
    const below = await part(photo, { top: cut, height: photo.height - cut })
    expect(
      await estimate(
        below,
        movePoints(person, ({ x, y }) => ({ x, y: y - cut })),
      ),
    ).toBeNull()
    const small = await part(photo, { scale: 0.35 })
    expect(
      await estimate(
        small,
        movePoints(person, ({ x, y }) => ({ x: 0.35 * x, y: 0.35 * y }), 0.35),
      ),
    ).toBeNull()
  })
})

async function part(
  { data, width, height, channels }: Bitmap,
  { top = 0, height: rows = height, scale = 1 }: { top?: number; height?: number; scale?: number },
): Promise<Bitmap> {
  const cut = await sharp(data, { raw: { width, height, channels } })
    .extract({ left: 0, top, width, height: rows })
    .png()
    .toBuffer()
  return decodeImage(
    await sharp(cut)
      .resize(Math.round(width * scale))
      .png()
      .toBuffer(),
  )
}
