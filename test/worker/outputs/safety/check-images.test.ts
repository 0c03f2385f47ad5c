import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Bitmap, decodeImage } from '../../../../api/shared/image/image.ts'
import { openModels } from '../../../../worker/inference/models.ts'
import { measureBareTrunk, measureTrunk } from '../../../../worker/outputs/safety/bare-trunk.ts'
import { judgeInput, judgeResult } from '../../../../worker/outputs/safety/check-images.ts'
import { EXPOSURE_MODEL } from '../../../../worker/outputs/safety/exposure.ts'
import type { Person } from '../../../../worker/vision/person/person.ts'
import { createPlane } from '../../../../worker/vision/raster/plane.ts'
import { fillPolygon } from '../../../../worker/vision/raster/polygon.ts'
import { readSample } from '../../../support/drape.ts'
import { mistakenShapes } from '../../../support/mistaken-shapes.ts'
import { personIn, sharedModels } from '../../../support/vision.ts'

const STANDARD = { level: 'standard', allowsSwimwear: false } as const
const STRICT = { level: 'strict', allowsSwimwear: false } as const
const SWIMWEAR = { level: 'strict', allowsSwimwear: true } as const
/** The model estimates children for the plain faces of the rendered figures. */
const RENDERED = [{ check: 'age', image: 'person' }] as const

describe('the safety check', async () => {
  const models = await sharedModels()
  const photo = await decodeImage(await readSample('persons/down-half-teal.jpg'))
  const person = await personIn(photo)
  const bare = withBareTrunk(photo, person)
  const shirt = await decodeImage(await readSample('garments/tshirt-navy.jpg'))
  const shapes = await decodeImage(await mistakenShapes())

  const input = (bitmap: Bitmap, policy: typeof STANDARD | typeof STRICT | typeof SWIMWEAR, more: object = {}) =>
    judgeInput({ image: 'person', bitmap, ...more }, { policy, models, allowances: RENDERED })

  it.each([STANDARD, STRICT, SWIMWEAR])('rejects nudity in photo and product at %o', async (policy) => {
    for (const image of ['person', 'product'] as const)
      await expect(input(shapes, policy, { image })).rejects.toMatchObject({
        code: 'NUDITY_DETECTED',
        retryable: false,
        image,
      })
  })

  it('accepts clothed people and garments at every level', async () => {
    for (const policy of [STANDARD, STRICT]) {
      expect(await input(photo, policy, { person })).toEqual([])
      for (const name of ['garments/tshirt-navy.jpg', 'garments/dress-blue.jpg'])
        expect(await input(await decodeImage(await readSample(name)), policy, { image: 'product' })).toEqual([])
    }
  })

  it('measures the bare skin of the torso', () => {
    expect(measureTrunk(photo, person)).toBeLessThan(0.1)
    expect(measureTrunk(bare, person)).toBeGreaterThan(0.9)
    const change = { ...createPlane(bare), data: new Float32Array(bare.width * bare.height).fill(1) }
    expect(measureBareTrunk({ photo, person, image: bare, change })?.bared).toBeGreaterThan(0.9)
    expect(measureBareTrunk({ photo: bare, person, image: bare, change })?.bared).toBe(0)
    expect(measureTrunk(photo, { ...person, face: null })).toBeNull()
  })

  it('rejects a bare torso in photo and product at strict, unless swimwear is allowed', async () => {
    for (const image of ['person', 'product'] as const) {
      await expect(input(bare, STRICT, { image })).rejects.toMatchObject({ code: 'EXPOSURE_NOT_ALLOWED', image })
      expect(await input(bare, SWIMWEAR, { image })).toEqual([])
      expect(await input(bare, STANDARD, { image })).toEqual([])
    }
    await expect(input(withAlpha(bare), STRICT, { image: 'product' })).rejects.toMatchObject({
      code: 'EXPOSURE_NOT_ALLOWED',
    })
  })

  it('rejects several people only at strict', async () => {
    const two = { ...person, people: 2 }
    await expect(input(photo, STRICT, { person: two })).rejects.toMatchObject({
      code: 'SEVERAL_PEOPLE',
      image: 'person',
    })
    expect(await input(photo, STANDARD, { person: two })).toEqual([])
  })

  it('asks for a review of a person who may be a minor, only at strict, until an operator allows the pair', async () => {
    const judge = (policy: typeof STANDARD | typeof STRICT | typeof SWIMWEAR, more: object = {}) =>
      judgeInput({ image: 'person', bitmap: photo, person, ...more }, { policy, models })
    for (const policy of [STRICT, SWIMWEAR]) {
      const refused = await judge(policy).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'AGE_REVIEW', image: 'person', check: 'age', retryable: false })
      expect((refused as Error).message).toMatch(/needs a review by a person/)
      expect((refused as Error).message).not.toMatch(/\d/)
      expect(await judge(policy, { person: { ...person, face: null } })).toEqual([])
      expect(await judge(policy, { image: 'product' })).toEqual([])
    }
    await expect(judge(STRICT, { person: undefined })).rejects.toMatchObject({ code: 'AGE_REVIEW' })
    expect(await judge(STANDARD)).toEqual([])
    expect(await input(photo, STRICT, { person })).toEqual([])
    for (const name of ['astronaut', 'grace-hopper', 'photographer']) {
      const adult = await decodeImage(await readSample(`persons/${name}.jpg`))
      expect(await judgeInput({ image: 'person', bitmap: adult }, { policy: STRICT, models })).toEqual([])
    }
  })

  it('rejects a result that bares covered parts of the photo', async () => {
    const change = { ...createPlane(bare), data: new Float32Array(bare.width * bare.height).fill(1) }
    const result = (image: Bitmap, before = photo, garment = shirt) => ({
      result: image,
      photo: before,
      person,
      garment,
      drawn: { image, change },
    })
    for (const policy of [STANDARD, STRICT]) {
      await expect(judgeResult(result(bare), { policy, models })).rejects.toMatchObject({
        code: 'RESULT_REJECTED',
        message: expect.stringContaining('more skin'),
      })
      await judgeResult(result(photo), { policy, models })
      await judgeResult(result(bare, bare), { policy, models })
      await judgeResult(result(bare, photo, skinColoured(shirt, bare, person)), { policy, models })
      await expect(judgeResult(result(shapes, photo), { policy, models })).rejects.toMatchObject({
        code: 'RESULT_REJECTED',
        message: expect.stringContaining('nudity'),
      })
    }
    await judgeResult(result(bare), { policy: SWIMWEAR, models })
  })

  it('estimates no age unless the age model is open', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'models-'))
    for (const file of ['manifest.json', 'exposure.onnx'])
      await copyFile(join('worker/models', file), join(folder, file))
    const without = await openModels(folder, { names: [EXPOSURE_MODEL] })
    const judged = { image: 'person', bitmap: photo, person } as const
    expect(await judgeInput(judged, { policy: STRICT, models: without })).toEqual([])
    await without.release()
    await rm(folder, { recursive: true })
  })

  it('fails at strict and warns at standard without its model', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'models-'))
    await copyFile('worker/models/manifest.json', join(folder, 'manifest.json'))
    const without = await openModels(folder, { names: [EXPOSURE_MODEL], optional: [EXPOSURE_MODEL] })
    const judged = { image: 'person', bitmap: photo } as const
    await expect(judgeInput(judged, { policy: STRICT, models: without })).rejects.toMatchObject({
      code: 'SAFETY_UNAVAILABLE',
    })
    expect(await judgeInput(judged, { policy: STANDARD, models: without })).toEqual(['SAFETY_CHECK_SKIPPED'])
    await rm(folder, { recursive: true })
  })
})

/** The photo with the trunk in the colour of the cheeks. */
function withBareTrunk(photo: Bitmap, { landmarks, mask }: Person): Bitmap {
  const data = new Uint8Array(photo.data)
  const { leftShoulder, rightShoulder, leftHip, rightHip, nose } = landmarks
  const cheek = (Math.round(nose.y) * photo.width + Math.round(nose.x)) * photo.channels
  const colour = photo.data.subarray(cheek, cheek + 3)
  const down = (leftHip.y - leftShoulder.y) * 0.3
  const legs = [leftHip, rightHip].map(({ x, y }) => ({ x, y: y + down }))
  const trunk = fillPolygon(photo, [rightShoulder, leftShoulder, legs[0], legs[1]])
  for (let i = 0; i < trunk.data.length; i++)
    if (trunk.data[i] && mask.data[i] > 0.5) data.set(colour, i * photo.channels)
  return { ...photo, data }
}

/** The garment in the colour that the trunk has. */
function skinColoured(garment: Bitmap, bare: Bitmap, { landmarks: { leftShoulder, rightHip } }: Person): Bitmap {
  const middle =
    (Math.round((leftShoulder.y + rightHip.y) / 2) * bare.width + Math.round((leftShoulder.x + rightHip.x) / 2)) *
    bare.channels
  const data = new Uint8Array(garment.data)
  for (let i = 0; i < data.length; i += garment.channels)
    if (data[i] < 128) data.set(bare.data.subarray(middle, middle + 3), i)
  return { ...garment, data }
}

function withAlpha({ data, ...size }: Bitmap): Bitmap {
  const pixels = Uint8Array.from({ length: (data.length / 3) * 4 }, (_, i) =>
    i % 4 === 3 ? 255 : data[3 * Math.floor(i / 4) + (i % 4)],
  )
  return { ...size, channels: 4, data: pixels }
}
