import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Models, openModels } from '../../../worker/inference/models.ts'
import { findPerson } from '../../../worker/person/find-person.ts'
import type { Person } from '../../../worker/person/person.ts'
import { measureBlur, warnAboutPhoto } from '../../../worker/person/photo-gate.ts'
import { gaussianBlurColours } from '../../../worker/raster/filter.ts'
import { type Bitmap, bitmapToColours } from '../../../worker/raster/plane.ts'
import { resizeAreaColours } from '../../../worker/raster/sample.ts'
import { readBitmap, readFigure } from './pictures.ts'

let models: Models
beforeAll(async () => {
  models = await openModels('worker/models')
})
afterAll(() => models.release())

const personIn = async (picture: Bitmap): Promise<Person> => {
  const person = await findPerson(picture, models)
  if (person === null) throw new Error('nobody was found')
  return person
}
const toBitmap = ({ width, height, data }: { width: number; height: number; data: Float32Array }): Bitmap => ({
  width,
  height,
  channels: 3,
  data: Uint8Array.from(data, Math.round),
})
const blurred = (picture: Bitmap, sigma: number) => toBitmap(gaussianBlurColours(bitmapToColours(picture), sigma))
const rows = (picture: Bitmap, from: number, to: number): Bitmap => ({
  ...picture,
  height: to - from,
  data: picture.data.slice(from * picture.width * 3, to * picture.width * 3),
})

describe('the warnings about a photo', () => {
  it('are none for a sharp photo of one person from head to hips', async () => {
    for (const name of ['apose-full', 'crossed-half', 'heavy-half'] as const) {
      const { picture } = await readFigure(name)
      expect(warnAboutPhoto(picture, await personIn(picture))).toEqual([])
    }
  })

  it('include darkness when even the brightest parts are dark', async () => {
    const { picture } = await readFigure('apose-full')
    const person = await personIn(picture)
    const dimmed = { ...picture, data: picture.data.map((value) => value * 0.25) }
    expect(warnAboutPhoto(dimmed, person)).toContain('too_dark')
    expect(warnAboutPhoto({ ...picture, data: picture.data.map((value) => value * 0.6) }, person)).toEqual([])
  })

  it('are only the missing person when there is none', async () => {
    const { picture } = await readFigure('apose-full')
    expect(warnAboutPhoto(picture, null)).toEqual(['no_person'])
  })

  it('include hips outside the frame of a portrait', async () => {
    const portrait = await readBitmap('scripts/samples/persons/grace-hopper.jpg')
    expect(warnAboutPhoto(portrait, await personIn(portrait))).toEqual(['truncated'])
  })

  it('include a cropped forehead', async () => {
    const { picture, joints } = await readFigure('heavy-half')
    const shoulder = joints.find(([name]) => name === 'leftShoulder')?.[1].y ?? 0
    const headless = rows(picture, Math.round(shoulder - 100), picture.height)
    expect(warnAboutPhoto(headless, await personIn(headless))).toEqual(['truncated'])
  })

  it('include blur from about 0.5 % of the height of the person', async () => {
    const { picture } = await readFigure('crossed-half')
    const person = await personIn(picture)
    expect(warnAboutPhoto(blurred(picture, 1), person)).toEqual([])
    expect(warnAboutPhoto(blurred(picture, 5), person)).toEqual(['blurred'])
  })

  it('include a person smaller than 256 px', async () => {
    const { picture } = await readFigure('apose-full')
    const small = toBitmap(resizeAreaColours(picture, { width: 250, height: 313 }))
    expect(warnAboutPhoto(small, await personIn(small))).toEqual(['too_small'])
  })

  it('include several people', async () => {
    const { picture } = await readFigure('apose-full')
    expect(warnAboutPhoto(picture, { ...(await personIn(picture)), people: 2 })).toEqual(['several_people'])
  })
})

describe('the blur of an image', () => {
  it('grows with the blur radius and hardly depends on the image size', async () => {
    const { picture, box } = await readFigure('crossed-half')
    const whole = { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }
    const sharp = [0, 1, 2, 4, 8].map((sigma) => measureBlur(sigma > 0 ? blurred(picture, sigma) : picture, whole))
    expect(sharp).toEqual(sharp.toSorted((a, b) => a - b))
    const larger = toBitmap(resizeAreaColours(blurred(picture, 4), { width: 1050, height: 1313 }))
    const scaled = { x: whole.x * 1.5, y: whole.y * 1.5, width: whole.width * 1.5, height: whole.height * 1.5 }
    expect(Math.abs(measureBlur(larger, scaled) - sharp[3])).toBeLessThan(0.05)
  })
})
