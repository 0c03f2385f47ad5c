import { describe, expect, it } from 'vitest'
import { measureBlur, warnAboutPhoto } from '../../../../worker/vision/person/photo-gate.ts'
import { gaussianBlurColours } from '../../../../worker/vision/raster/filter.ts'
import { type Bitmap, bitmapToColours } from '../../../../worker/vision/raster/plane.ts'
import { resizeAreaColours } from '../../../../worker/vision/raster/sample.ts'
import { personIn } from '../../../support/vision.ts'
import { readBitmap, readFigure } from './figures.ts'

const toBitmap = ({ width, height, data }: { width: number; height: number; data: Float32Array }): Bitmap => ({
  width,
  height,
  channels: 3,
  data: Uint8Array.from(data, Math.round),
})
const blurred = (bitmap: Bitmap, sigma: number) => toBitmap(gaussianBlurColours(bitmapToColours(bitmap), sigma))
const rows = (bitmap: Bitmap, from: number, to: number): Bitmap => ({
  ...bitmap,
  height: to - from,
  data: bitmap.data.slice(from * bitmap.width * 3, to * bitmap.width * 3),
})

describe('the warnings about a photo', () => {
  it('are none for a sharp photo of one person from head to hips', async () => {
    for (const name of ['apose-full', 'crossed-half', 'heavy-half'] as const) {
      const { bitmap } = await readFigure(name)
      expect(warnAboutPhoto(bitmap, await personIn(bitmap))).toEqual([])
    }
  })

  it('include darkness when even the brightest parts are dark', async () => {
    const { bitmap } = await readFigure('apose-full')
    const person = await personIn(bitmap)
    const dimmed = { ...bitmap, data: bitmap.data.map((value) => value * 0.25) }
    expect(warnAboutPhoto(dimmed, person)).toContain('too_dark')
    expect(warnAboutPhoto({ ...bitmap, data: bitmap.data.map((value) => value * 0.6) }, person)).toEqual([])
  })

  it('are only the missing person when there is none', async () => {
    const { bitmap } = await readFigure('apose-full')
    expect(warnAboutPhoto(bitmap, null)).toEqual(['no_person'])
  })

  it('include hips outside the frame of a portrait', async () => {
    const portrait = await readBitmap('scripts/samples/persons/grace-hopper.jpg')
    expect(warnAboutPhoto(portrait, await personIn(portrait))).toEqual(['truncated'])
  })

  it('include a cropped forehead', async () => {
    const { bitmap, joints } = await readFigure('heavy-half')
    const shoulder = joints.find(([name]) => name === 'leftShoulder')?.[1].y ?? 0
    const headless = rows(bitmap, Math.round(shoulder - 100), bitmap.height)
    expect(warnAboutPhoto(headless, await personIn(headless))).toEqual(['truncated'])
  })

  it('include blur from about 0.5 % of the height of the person', async () => {
    const { bitmap } = await readFigure('crossed-half')
    const person = await personIn(bitmap)
    expect(warnAboutPhoto(blurred(bitmap, 1), person)).toEqual([])
    expect(warnAboutPhoto(blurred(bitmap, 5), person)).toEqual(['blurred'])
  })

  it('include a person smaller than 256 px', async () => {
    const { bitmap } = await readFigure('apose-full')
    const small = toBitmap(resizeAreaColours(bitmap, { width: 250, height: 313 }))
    expect(warnAboutPhoto(small, await personIn(small))).toEqual(['too_small'])
  })

  it('include several people', async () => {
    const { bitmap } = await readFigure('apose-full')
    expect(warnAboutPhoto(bitmap, { ...(await personIn(bitmap)), people: 2 })).toEqual(['several_people'])
  })
})

describe('the blur of an image', () => {
  it('grows with the blur radius and hardly depends on the image size', async () => {
    const { bitmap, box } = await readFigure('crossed-half')
    const whole = { x: box.left, y: box.top, width: box.right - box.left, height: box.bottom - box.top }
    const sharp = [0, 1, 2, 4, 8].map((sigma) => measureBlur(sigma > 0 ? blurred(bitmap, sigma) : bitmap, whole))
    expect(sharp).toEqual(sharp.toSorted((a, b) => a - b))
    const larger = toBitmap(resizeAreaColours(blurred(bitmap, 4), { width: 1050, height: 1313 }))
    const scaled = { x: whole.x * 1.5, y: whole.y * 1.5, width: whole.width * 1.5, height: whole.height * 1.5 }
    expect(Math.abs(measureBlur(larger, scaled) - sharp[3])).toBeLessThan(0.05)
  })
})
