import { readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import type { Engine } from '../../../../worker/engines/engine.ts'
import { tryOn } from '../../../../worker/job/try-on.ts'
import { blendChange } from '../../../../worker/vision/composite/blend.ts'
import { protectFace, protectHands } from '../../../../worker/vision/composite/protect-body.ts'
import { drawHands } from '../../../../worker/vision/person/hand-area.ts'
import type { Hand } from '../../../../worker/vision/person/person.ts'
import { type Bitmap, createPlane } from '../../../../worker/vision/raster/plane.ts'
import { fillPolygon } from '../../../../worker/vision/raster/polygon.ts'
import { personIn, sharedModels } from '../../../support/vision.ts'

const flat = (width: number, height: number, value: number): Bitmap => ({
  width,
  height,
  channels: 3,
  data: new Uint8Array(width * height * 3).fill(value),
})

const photo = flat(120, 160, 50)
const face = Array.from({ length: 36 }, (_, i) => ({
  x: 58.5 + 21 * Math.sin((i * Math.PI) / 18),
  y: 50.5 - 28 * Math.cos((i * Math.PI) / 18),
}))

describe('a face under a result that covers the photo', () => {
  it.each([1, 2, 0.5])('stays bit-identical in a result of %s times the size', (scale) => {
    const size = { width: photo.width * scale, height: photo.height * scale }
    const change = createPlane(size, 1)
    protectFace(change, face, photo)
    const result = blendChange({ photo, image: flat(size.width, size.height, 200), change })
    const inside = fillPolygon(photo, face)
    const at = (x: number, y: number) => result.data[(y * photo.width + x) * 3]
    const painted = inside.data.findIndex((set, i) => set === 1 && result.data[i * 3] !== 50)
    expect(painted).toBe(-1)
    expect([at(58, 95), at(10, 50), at(110, 50), at(58, 5)]).toEqual([200, 200, 200, 200])
  })

  it('is ignored outside the image', () => {
    const change = createPlane(photo, 1)
    const moved = face.map(({ x, y }) => ({ x: x - 200, y }))
    protectFace(change, moved, photo)
    expect(change.data.every((share) => share === 1)).toBe(true)
  })

  it('is kept where it is inside the image', () => {
    const change = createPlane(photo, 1)
    protectFace(
      change,
      face.map(({ x, y }) => ({ x: x - 50, y: y - 40 })),
      photo,
    )
    expect(change.data[10 * photo.width + 8]).toBe(0)
    expect(change.data[100 * photo.width + 100]).toBe(1)
  })
})

describe('an engine that paints over everything', () => {
  const painter: Engine = {
    manifest: {
      name: 'painter',
      version: '1.0.0',
      kind: 'photo' as const,
      aiGenerated: false,
      license: { spdx: 'Apache-2.0', commercial: true },
      accepts: { categories: ['tops'] as const, garmentTypes: ['flat_lay'] as const, needsPerson: true },
    },
    run: async ({ person, found }) => {
      const { width, height } = person
      const { x, y, width: w, height: h } = found?.box ?? { x: 0, y: 0, width, height }
      const change = createPlane(person)
      for (let v = Math.ceil(y); v < y + h - 1; v++)
        change.data.fill(1, v * width + Math.ceil(x), v * width + Math.floor(x + w))
      return {
        image: { ...person, data: person.data.map((value, i) => (value + 100 + (i % 5)) % 256) },
        change,
        warnings: [],
        timings: {},
      }
    },
  }

  it('does not change pixels of face and hands', async () => {
    const photo = await readFile('scripts/samples/persons/down-half-teal.jpg')
    const models = await sharedModels()
    const request = {
      ...{
        engine: 'painter',
        photo,
        garment: photo,
        garmentHash: 'none',
        product: { title: null, description: null, classifications: null },
        crop: 'none' as const,
        logo: null,
      },
      options: { seed: 1, mode: 'balanced' as const, format: 'png' as const, fullResolution: false, watermark: false },
    }
    const context = {
      models,
      engines: new Map([['painter', painter]]),
      signal: AbortSignal.timeout(60_000),
      onProgress: () => {},
    }
    const { image } = await tryOn(request, context)
    const [before, after] = [await decodeImage(photo), await decodeImage(Buffer.from(image))]
    const person = await personIn(before)
    const inside = fillPolygon(before, person.face ?? [])
    const hands = drawHands(before, person.hands)
    const step = after.channels
    let [size, changed, painted, handSize, handChanged] = [0, 0, 0, 0, 0]
    for (let i = 0; i < inside.data.length; i++) {
      const isSame = [0, 1, 2].every((c) => after.data[i * step + c] === before.data[i * before.channels + c])
      size += inside.data[i]
      if (inside.data[i] && !isSame) changed++
      if (!isSame) painted++
      if (hands.data[i] < 0.7) continue
      handSize++
      if (!isSame) handChanged++
    }
    expect(size).toBeGreaterThan(1000)
    expect(painted).toBeGreaterThan(10 * size)
    expect(changed).toBe(0)
    expect(handSize).toBeGreaterThan(500)
    expect(handChanged).toBe(0)
  })
})

// Two fingers with cloth between them, in an image of the hand that is half as large as the photo.
const hand: Hand = {
  points: [],
  share: {
    width: 20,
    height: 30,
    data: Float32Array.from({ length: 600 }, (_, i) => (i % 20 < 5 || i % 20 > 14 ? 1 : 0)),
  },
  first: { x: 40.5, y: 60.5 },
  last: { x: 78.5, y: 118.5 },
}

describe('a hand under a result that covers the photo', () => {
  it.each([1, 2, 0.5])('alone stays bit-identical in a result of %s times the size', (scale) => {
    const size = { width: photo.width * scale, height: photo.height * scale }
    const change = createPlane(size, 1)
    protectHands(change, [hand], photo)
    const result = blendChange({ photo, image: flat(size.width, size.height, 200), change })
    const row = Array.from({ length: photo.width }, (_, x) => result.data[(90 * photo.width + x) * 3])
    expect(row.slice(41, 49).concat(row.slice(71, 79))).toEqual(Array(16).fill(50))
    expect(row.slice(0, 34).concat(row.slice(57, 63), row.slice(86))).toEqual(Array(74).fill(200))
  })

  it('is ignored outside the image', () => {
    const change = createPlane(photo, 1)
    protectHands(change, [{ ...hand, first: { x: -90, y: 0 }, last: { x: -50, y: 60 } }], photo)
    expect(change.data.every((share) => share === 1)).toBe(true)
  })
})
