import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  decodePoints,
  regionAround,
  viewRegion,
} from '../../../../../worker/engines/fashn-vton/dwpose/find-keypoints.ts'
import {
  createWholeBodyFinder,
  type WholeBodyFinder,
} from '../../../../../worker/engines/fashn-vton/dwpose/find-people.ts'
import { openSession, type Session } from '../../../../../worker/inference/session.ts'
import { type Bytes, createBytes } from '../../../../../worker/vision/raster/bytes.ts'

const FIXTURES = new URL('../../../../fixtures/dwpose/', import.meta.url)
const VIEW = { width: 288, height: 384 }
const MEAN = [123.675, 116.28, 103.53]
const DEVIATION = [58.395, 57.12, 57.375]

// The graphs see a person of 128 × 256 px around a bright blue square of 32 px, and points where blue, green and red are brightest.
describe('people found by DWPose', () => {
  let detector: Session
  let keypoints: Session
  let finder: WholeBodyFinder
  beforeAll(async () => {
    detector = await openSession(new URL('pose-detector.onnx', FIXTURES).pathname)
    keypoints = await openSession(new URL('pose-keypoints.onnx', FIXTURES).pathname)
    finder = createWholeBodyFinder({ detector, keypoints })
  })
  afterAll(async () => {
    await detector?.release()
    await keypoints?.release()
  })

  it('have keypoints in image coordinates, with the scores of the model', async () => {
    // Twice as large in the detector's canvas: the blue square fills its cell at (96, 160), or (48, 80) here.
    const bitmap = createBytes({ width: 240, height: 320 }, 3)
    paint(bitmap, { x: 48, y: 80, side: 16 }, [0, 0, 255])
    paint(bitmap, { x: 60, y: 120, side: 3 }, [0, 250, 0])
    paint(bitmap, { x: 70, y: 60, side: 3 }, [240, 0, 0])
    const [person, ...others] = await finder.find(bitmap)
    expect(others).toEqual([])
    expect(person).toHaveLength(133)
    const places = [
      { x: 55.5, y: 87.5, within: 8.5, brightest: 255 },
      { x: 61, y: 121, within: 1.5, brightest: 250 },
      { x: 71, y: 61, within: 1.5, brightest: 240 },
    ]
    for (const [i, point] of person.entries()) {
      const { x, y, within, brightest } = places[i % 3]
      expect(Math.abs(point.x - x), `${i}`).toBeLessThanOrEqual(within)
      expect(Math.abs(point.y - y), `${i}`).toBeLessThanOrEqual(within)
      expect(point.score).toBeCloseTo((brightest - MEAN[i % 3]) / DEVIATION[i % 3], 1)
    }
  })

  it('have one entry per detection', async () => {
    const bitmap = createBytes({ width: 640, height: 640 }, 3)
    for (const x of [64, 480]) paint(bitmap, { x, y: 320, side: 32 }, [0, 0, 255])
    const people = await finder.find(bitmap)
    expect(people.map(([point]) => Math.abs(point.x - 79.5) < 20 || Math.abs(point.x - 495.5) < 20)).toEqual([
      true,
      true,
    ])
    expect(Math.abs(people[0][0].x - people[1][0].x)).toBeGreaterThan(300)
  })

  it('are searched in the whole image when the detector finds no person', async () => {
    const bitmap = createBytes({ width: 90, height: 120 }, 3)
    paint(bitmap, { x: 80, y: 5, side: 5 }, [0, 200, 0])
    const people = await finder.find(bitmap)
    expect(people).toHaveLength(1)
    expect(Math.abs(people[0][1].x - 82)).toBeLessThanOrEqual(2.5)
    expect(Math.abs(people[0][1].y - 7)).toBeLessThanOrEqual(2.5)
  })

  it('require graphs with the matching interface', () => {
    expect(() => createWholeBodyFinder({ detector: keypoints, keypoints })).toThrow('which does not match YOLOX')
    expect(() => createWholeBodyFinder({ detector, keypoints: detector })).toThrow('which does not match DWPose')
  })

  it('are none when outputs are not finite', async () => {
    const spoil = (session: Session): Session => ({
      ...session,
      run: async (feeds) => {
        const outputs = await session.run(feeds)
        for (const { data } of Object.values(outputs)) data[0] = Number.NaN
        return outputs
      },
    })
    const bitmap = createBytes({ width: 90, height: 120 }, 3)
    for (const graphs of [
      { detector: spoil(detector), keypoints },
      { detector, keypoints: spoil(keypoints) },
    ])
      await expect(createWholeBodyFinder(graphs).find(bitmap)).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
  })
})

describe('the input of the keypoint model', () => {
  it('is the box enlarged by 1.25, at the input aspect ratio', () => {
    expect(regionAround({ x: 100, y: 100, width: 60, height: 200 }, VIEW)).toEqual({
      x: 36.25,
      y: 75,
      width: 187.5,
      height: 250,
    })
    expect(regionAround({ x: 0, y: 0, width: 240, height: 80 }, VIEW)).toEqual({
      x: -30,
      y: -160,
      width: 300,
      height: 400,
    })
  })

  it('is black outside the image, and BGR with the normalization of RGB', () => {
    const bitmap = createBytes({ width: 30, height: 40 }, 3)
    for (let i = 0; i < bitmap.data.length; i += 3) bitmap.data.set([10, 20, 30], i)
    const { shape, data } = viewRegion(bitmap, { x: 0, y: -20, width: 30, height: 40 }, VIEW)
    expect(shape).toEqual([1, 3, 384, 288])
    const at = (c: number, x: number, y: number) => data[c * 288 * 384 + y * 288 + x]
    for (const c of [0, 1, 2]) {
      expect(at(c, 144, 50)).toBeCloseTo(-MEAN[c] / DEVIATION[c], 5)
      expect(at(c, 144, 300)).toBeCloseTo(([30, 20, 10][c] - MEAN[c]) / DEVIATION[c], 5)
    }
  })

  it('locates keypoints at half pixels, with the lower score of both axes', () => {
    const scores = (places: number, values: Readonly<Record<number, number>>) => {
      const data = new Float32Array(2 * places).fill(-1)
      for (const [at, value] of Object.entries(values)) data[Number(at)] = value
      return { shape: [1, 2, places], data }
    }
    const across = scores(576, { 100: 0.9 })
    const down = scores(768, { 201: 0.5 })
    const [point, unseen] = decodePoints(across, down, {
      region: { x: 10, y: 20, width: 144, height: 192 },
      view: VIEW,
    })
    expect(point).toEqual({ x: 10 + 25, y: 20 + 50.25, score: 0.5 })
    expect(unseen).toEqual({ x: 10 - 0.25, y: 20 - 0.25, score: -1 })
  })
})

function paint(bitmap: Bytes, { x, y, side }: { x: number; y: number; side: number }, colour: readonly number[]): void {
  for (let row = y; row < y + side; row++) {
    for (let column = x; column < x + side; column++) bitmap.data.set(colour, (row * bitmap.width + column) * 3)
  }
}
