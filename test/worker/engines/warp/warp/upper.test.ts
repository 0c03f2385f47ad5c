import { describe, expect, it } from 'vitest'
import type { Placement } from '../../../../../worker/engines/warp/fit/upper/fitting.ts'
import { placeGarment } from '../../../../../worker/engines/warp/fit/upper/place.ts'
import type { UpperLayers } from '../../../../../worker/engines/warp/warp/layers.ts'
import { warpUpper } from '../../../../../worker/engines/warp/warp/upper.ts'
import { measureBody } from '../../../../../worker/vision/body/body-frame.ts'
import type { UpperGarment } from '../../../../../worker/vision/garment/garment.ts'
import type { Pixels, Point } from '../../../../../worker/vision/raster/plane.ts'
import { ARMS_AWAY, ARMS_BENT, type Colour, drawPerson, type Pose, partsOf } from '../../../vision/body/drawn-person.ts'
import { CLOTH, drawGarment, LEFT_DOT, RIGHT_DOT } from '../drawn-garment.ts'

interface Warped {
  placement: Placement
  layers: UpperLayers
}

function warp(garment: UpperGarment, pose: Pose = ARMS_AWAY, scale = 1): Warped {
  const { person, photo } = drawPerson(pose)
  const body = measureBody(person)
  const placement = placeGarment({ person, body, parts: partsOf(photo, person), garment })
  const size = { width: Math.round(480 * scale), height: Math.round(720 * scale) }
  return { placement, layers: warpUpper(garment, placement, { size, scale }) }
}

const pixel = ({ width, data }: Pixels, { x, y }: Point) => [
  ...data.subarray(4 * (Math.round(y) * width + Math.round(x)), 4 * (Math.round(y) * width + Math.round(x)) + 4),
]

const near = (found: readonly number[], expected: Colour) =>
  Math.hypot(found[0] - expected[0], found[1] - expected[1], found[2] - expected[2])

/** Centre of the opaque pixels that have a colour. */
function centreOf({ width, data }: Pixels, colour: Colour): Point & { count: number } {
  let [x, y, count] = [0, 0, 0]
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] < 250 || near([data[i], data[i + 1], data[i + 2]], colour) > 30) continue
    x += (i >> 2) % width
    y += Math.floor((i >> 2) / width)
    count++
  }
  return { x: x / count, y: y / count, count }
}

describe('warpUpper', () => {
  const { placement, layers } = warp(drawGarment())

  it('shows the garment color on the chest', () => {
    expect(near(pixel(layers.torso, { x: 240, y: 230 }), CLOTH)).toBeLessThan(3)
    expect(pixel(layers.torso, { x: 240, y: 230 })[3]).toBeCloseTo(255, 0)
  })

  it('covers only the region between shoulders and hem', () => {
    const hem = 200 + 160 * placement.hem
    for (const at of [
      { x: 240, y: 150 },
      { x: 240, y: hem + 12 },
      { x: 90, y: 300 },
      { x: 390, y: 300 },
    ])
      expect(pixel(layers.torso, at)[3]).toBeLessThan(1)
    expect(pixel(layers.torso, { x: 200, y: hem - 6 })[3]).toBeGreaterThan(250)
  })

  it('does not mirror a print', () => {
    const left = centreOf(layers.torso, LEFT_DOT)
    const right = centreOf(layers.torso, RIGHT_DOT)
    expect(left.count).toBeGreaterThan(100)
    expect(left.x).toBeLessThan(230)
    expect(right.x).toBeGreaterThan(250)
    expect(Math.abs(left.y - right.y)).toBeLessThan(2)
  })

  it('maps control points of the product to their targets on the person', () => {
    const garment = drawGarment()
    // A white dot at every third matching point inside of the cloth must come out at its partner.
    for (const index of placement.source.keys().filter((i) => i % 3 === 0)) {
      const { x, y } = placement.source[index]
      if (Math.abs(x - 300) > 80 || y < 150 || y > 420) continue
      const image = { ...garment.image, data: garment.image.data.slice() }
      for (let dy = -4; dy <= 4; dy++)
        for (let dx = -4; dx <= 4; dx++)
          image.data.fill(
            255,
            4 * (Math.round(y + dy) * 600 + Math.round(x + dx)),
            4 * (Math.round(y + dy) * 600 + Math.round(x + dx)) + 4,
          )
      const { width, height } = layers.torso
      const marked = warpUpper({ ...garment, image }, placement, { size: { width, height }, scale: 1 }).torso
      const found = centreOf(marked, [255, 255, 255])
      expect(Math.hypot(found.x - placement.target[index].x, found.y - placement.target[index].y)).toBeLessThan(1.5)
    }
  })

  it('covers bent arms with long sleeves, with coordinates across each sleeve', () => {
    const bent = warp(drawGarment({ sleeves: 'long' }), ARMS_BENT).layers
    const forearm = { x: 240 + 60 + 66, y: 200 + 90 }
    const right = bent.sleeves[1]
    expect(right.side).toBe(1)
    expect(near(pixel(right.layer, forearm), CLOTH)).toBeLessThan(6)
    expect(Math.abs(right.across[forearm.y * 480 + forearm.x])).toBeLessThan(64)
    expect(right.across[forearm.y * 480 + forearm.x + 10]).toBeLessThan(right.across[forearm.y * 480 + forearm.x - 10])
    expect(right.across[0]).toBe(0)
    expect(Math.max(...bent.folds.sleeves)).toBeLessThan(0.1)
  })

  it('shows the inside of the back only above the front neckline', () => {
    const { x, y } = placement.neckline[30]
    const hasBack = layers.back.data.findIndex((_, i) => (i & 3) === 3 && layers.back.data[i] > 128)
    expect(hasBack).toBe(-1)
    expect(pixel(layers.torso, { x, y: y - 6 })[3]).toBeLessThan(10)
    expect(pixel(layers.torso, { x, y: y + 6 })[3]).toBeGreaterThan(245)
  })

  it('renders consistently at a larger scale', () => {
    const large = warp(drawGarment(), ARMS_AWAY, 1.5).layers
    const small = centreOf(layers.torso, LEFT_DOT)
    const big = centreOf(large.torso, LEFT_DOT)
    expect(Math.abs(big.x + 0.5 - 1.5 * (small.x + 0.5))).toBeLessThan(1)
    expect(Math.abs(big.y + 0.5 - 1.5 * (small.y + 0.5))).toBeLessThan(1)
    expect(large.torso.width).toBe(720)
  })

  it('averages a pattern finer than a pixel', () => {
    const garment = drawGarment()
    const image = { ...garment.image, data: garment.image.data.slice() }
    for (let i = 0; i < image.data.length; i += 4)
      if (((i >> 2) % 600) % 2 === 0) for (let c = 0; c < 3; c++) image.data[i + c] *= 0.2
    const { torso } = warp({ ...garment, image }, ARMS_AWAY, 0.5).layers
    const reds = Array.from({ length: 40 }, (_, i) => pixel(torso, { x: 100 + i, y: 150 })[0])
    expect(Math.max(...reds) - Math.min(...reds)).toBeLessThan(25)
  })

  it('rejects a placement that folds the garment', () => {
    const swapped = { ...placement, target: placement.target.map(({ x, y }) => ({ x: 480 - x, y })) }
    expect(() => warpUpper(drawGarment(), swapped, { size: { width: 480, height: 720 }, scale: 1 })).toThrow(
      expect.objectContaining({ code: 'RESULT_REJECTED' }),
    )
  })
})
