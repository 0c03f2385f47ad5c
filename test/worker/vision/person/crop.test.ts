import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cropAroundPerson, cropWithoutPerson } from '../../../../worker/vision/person/crop.ts'
import type { Box } from '../../../../worker/vision/person/person.ts'
import type { Size } from '../../../../worker/vision/raster/plane.ts'

const frames = fc.oneof(
  fc.record({ width: fc.integer({ min: 1, max: 3000 }), height: fc.integer({ min: 1, max: 3000 }) }),
  fc.record({ width: fc.integer({ min: 1, max: 30 }), height: fc.integer({ min: 1, max: 10_000 }) }),
  fc.record({ width: fc.integer({ min: 1, max: 10_000 }), height: fc.integer({ min: 1, max: 30 }) }),
)

// A frame and a person's box in whole px inside of it.
const scenes = frames.chain((frame) =>
  fc
    .record({
      width: fc.integer({ min: 1, max: frame.width }),
      height: fc.integer({ min: 1, max: frame.height }),
      across: fc.double({ min: 0, max: 1, noNaN: true }),
      down: fc.double({ min: 0, max: 1, noNaN: true }),
    })
    .map(({ width, height, across, down }) => ({
      frame,
      box: {
        x: Math.round(across * (frame.width - width)),
        y: Math.round(down * (frame.height - height)),
        width,
        height,
      },
    })),
)

const expectInside = (crop: Box, frame: Size) => {
  for (const value of [crop.x, crop.y, crop.width, crop.height]) expect(Number.isInteger(value)).toBe(true)
  expect(crop.x).toBeGreaterThanOrEqual(0)
  expect(crop.y).toBeGreaterThanOrEqual(0)
  expect(crop.width).toBeGreaterThanOrEqual(1)
  expect(crop.height).toBeGreaterThanOrEqual(1)
  expect(crop.x + crop.width).toBeLessThanOrEqual(frame.width)
  expect(crop.y + crop.height).toBeLessThanOrEqual(frame.height)
}

const isLargest = (crop: Box, frame: Size) => crop.width + 4 > frame.width || crop.height + 5 > frame.height

describe('the crop around a person', () => {
  it('pads the box by a tenth of its height above, 4 % below, and keeps it in the middle', () => {
    // 1000 px high: padded from 900 to 2040, so 1140 high; 4:5 makes that 912 wide, around the middle 1500.
    const crop = cropAroundPerson({ x: 1350, y: 1000, width: 300, height: 1000 }, { width: 3000, height: 3000 })
    expect(crop).toEqual({ x: 1044, y: 900, width: 912, height: 1140 })
  })

  it('pads by 8 % of the height to each side of a wide person', () => {
    // 1000 wide, 500 high: padded to 1080 wide, hence 1350 high, around the middle of 950 to 1520.
    const crop = cropAroundPerson({ x: 1000, y: 1000, width: 1000, height: 500 }, { width: 3000, height: 3000 })
    expect(crop).toEqual({ x: 960, y: 560, width: 1080, height: 1350 })
  })

  it('is shifted into the frame when the person stands at its border', () => {
    const crop = cropAroundPerson({ x: 0, y: 20, width: 300, height: 800 }, { width: 2000, height: 1000 })
    expect(crop).toEqual({ x: 0, y: 0, width: 732, height: 915 })
  })

  it('keeps the head with its room above when the person is too large for the frame', () => {
    const crop = cropAroundPerson({ x: 100, y: 200, width: 800, height: 1700 }, { width: 1000, height: 2000 })
    expect(crop).toEqual({ x: 0, y: 30, width: 1000, height: 1250 })
  })

  it('moves to the head of a person wider than the largest rectangle', () => {
    const lying = { x: 0, y: 100, width: 2000, height: 600 }
    const frame = { width: 2000, height: 800 }
    expect(cropAroundPerson(lying, frame)).toEqual({ x: 680, y: 0, width: 640, height: 800 })
    expect(cropAroundPerson(lying, frame, { x: 200, y: 300 }).x).toBe(40)
    expect(cropAroundPerson(lying, frame, { x: 1990, y: 300 }).x).toBe(1360)
  })

  it('has whole pixels inside the frame, and exactly 4:5 when it fits', () => {
    fc.assert(
      fc.property(scenes, ({ frame, box }) => {
        const crop = cropAroundPerson(box, frame, { x: box.x, y: box.y })
        expectInside(crop, frame)
        if (frame.width >= 4 && frame.height >= 5) expect(crop.width * 5).toBe(crop.height * 4)
      }),
    )
  })

  it('contains the whole padded box, or is as large as the frame allows', () => {
    fc.assert(
      fc.property(scenes, ({ frame, box }) => {
        const crop = cropAroundPerson(box, frame)
        const holds = (least: number, most: number, start: number, length: number) =>
          start <= Math.ceil(Math.max(least, 0)) + 1 && start + length >= Math.floor(most) - 1
        const pad = 0.08 * box.height
        const holdsAll =
          holds(box.x - pad, Math.min(box.x + box.width + pad, frame.width), crop.x, crop.width) &&
          holds(box.y - 0.1 * box.height, Math.min(box.y + 1.04 * box.height, frame.height), crop.y, crop.height)
        expect(holdsAll || isLargest(crop, frame)).toBe(true)
      }),
    )
  })

  it('always contains the top of the box', () => {
    fc.assert(
      fc.property(scenes, ({ frame, box }) => {
        const crop = cropAroundPerson(box, frame)
        expect(crop.y).toBeLessThanOrEqual(box.y)
        expect(crop.y + crop.height).toBeGreaterThan(box.y)
      }),
    )
  })
})

describe('the crop without a person', () => {
  it.each([
    [
      { width: 1000, height: 1000 },
      { x: 100, y: 0, width: 800, height: 1000 },
    ],
    [
      { width: 1080, height: 1920 },
      { x: 0, y: 143, width: 1080, height: 1350 },
    ],
    [
      { width: 4, height: 5 },
      { x: 0, y: 0, width: 4, height: 5 },
    ],
    [
      { width: 10, height: 10_000 },
      { x: 1, y: 2498, width: 8, height: 10 },
    ],
    [
      { width: 3, height: 3 },
      { x: 0, y: 0, width: 3, height: 3 },
    ],
    [
      { width: 1, height: 1 },
      { x: 0, y: 0, width: 1, height: 1 },
    ],
  ])('of %j is %j', (frame, expected) => {
    expect(cropWithoutPerson(frame)).toEqual(expected)
  })

  it('has whole pixels, is as large as the frame allows, and is closer to the top', () => {
    fc.assert(
      fc.property(frames, (frame) => {
        const crop = cropWithoutPerson(frame)
        expectInside(crop, frame)
        expect(isLargest(crop, frame)).toBe(true)
        expect(crop.y).toBeLessThanOrEqual(Math.max(1, frame.height - crop.height - crop.y))
      }),
    )
  })
})
