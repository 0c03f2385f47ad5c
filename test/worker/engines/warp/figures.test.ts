import { beforeAll, describe, expect, it } from 'vitest'
import { placeGarment } from '../../../../worker/engines/warp/fit/upper/place.ts'
import type { UpperLayers } from '../../../../worker/engines/warp/warp/layers.ts'
import { warpUpper } from '../../../../worker/engines/warp/warp/upper.ts'
import { type BodyFrame, halfWidthAt, measureBody } from '../../../../worker/vision/body/body-frame.ts'
import type { Parts } from '../../../../worker/vision/body/parts.ts'
import type { UpperGarment } from '../../../../worker/vision/garment/garment.ts'
import type { Person } from '../../../../worker/vision/person/person.ts'
import { countSet, maskWhere } from '../../../../worker/vision/raster/mask.ts'
import { dilate } from '../../../../worker/vision/raster/morphology.ts'
import type { Mask, Point } from '../../../../worker/vision/raster/plane.ts'
import { move } from '../../../../worker/vision/raster/vector.ts'
import { partsOf, personIn } from '../../../support/vision.ts'
import { readGarment } from '../../vision/garment/known-garments.ts'
import { prepareGarment } from '../../vision/garment/prepare-by-outline.ts'
import { FIGURES, type Figure, readFigure } from '../../vision/person/figures.ts'

let shirt: UpperGarment
let pullover: UpperGarment

async function prepare(name: string): Promise<UpperGarment> {
  const prepared = prepareGarment((await readGarment(name)).bitmap, { category: 'tops' })
  if (prepared.kind !== 'top') throw new Error(`${name} is a ${prepared.kind}`)
  return prepared
}

beforeAll(async () => {
  shirt = await prepare('tshirt_navy')
  pullover = await prepare('longsleeve_grey')
})

describe.each(FIGURES)('on the rendered figure %s', (name) => {
  let figure: Figure
  let person: Person
  let body: BodyFrame
  let parts: Parts
  let worn: UpperLayers

  const warp = (garment: UpperGarment) =>
    warpUpper(garment, placeGarment({ person, body, parts, garment }), { size: figure.bitmap, scale: 1 })
  const pointAt = (f: number, x: number) =>
    move(move(body.shoulders, body.down, f * body.trunk), body.right, x * body.unit)
  const indexOf = ({ x, y }: Point) => Math.round(y) * figure.bitmap.width + Math.round(x)

  beforeAll(async () => {
    figure = await readFigure(name)
    person = await personIn(figure.bitmap)
    body = measureBody(person)
    parts = await partsOf(figure.bitmap, person)
    worn = warp(shirt)
  })

  it('measures the torso width between the hip joints and the outline', () => {
    const hips = Math.abs(body.joints.hip[1].x - body.joints.hip[0].x) / 2
    for (const side of [0, 1] as const) {
      const half = halfWidthAt(body, 1, side)
      expect(half).toBeGreaterThan(hips)
      expect(half).toBeLessThan(0.75 * body.unit)
    }
  })

  it('labels almost all pixels of the person, and the center of each part correctly', () => {
    const labelled = (i: number) => parts.skin.data[i] + parts.top.data[i] + parts.lower.data[i] + parts.hair.data[i]
    const named = maskWhere(figure.mask, (i) => figure.mask.data[i] === 1 && labelled(i) === 1)
    // Shoes have no label.
    expect(countSet(named) / countSet(figure.mask)).toBeGreaterThan(0.92)
    expect(parts.skin.data[indexOf(person.landmarks.nose)]).toBe(1)
    expect(parts.top.data[indexOf(pointAt(0.25, 0))]).toBe(1)
    expect(parts.lower.data[indexOf(pointAt(1.35, -0.2))]).toBe(1)
  })

  it('warps a T-shirt onto the person without folds', () => {
    expect(worn.folds.torso).toBe(0)
    expect(Math.max(...worn.folds.sleeves)).toBeLessThan(0.1)
    expect(worn.warnings).toEqual([])
    const near = dilate(figure.mask, 0.12 * body.unit)
    const opaque: Mask = maskWhere(near, (i) => worn.torso.data[4 * i + 3] > 128)
    const outside = maskWhere(near, (i) => opaque.data[i] === 1 && near.data[i] === 0)
    expect(countSet(outside) / countSet(opaque)).toBeLessThan(0.01)
    for (const [f, x] of [
      [0.2, 0.2],
      [0.5, -0.3],
      [0.8, 0.3],
      [0.9, 0],
    ])
      expect(opaque.data[indexOf(pointAt(f, x))]).toBe(1)
  })

  it('centers the print on the chest', () => {
    let [x, y, count] = [0, 0, 0]
    for (let i = 0; i < figure.mask.data.length; i++) {
      if (worn.torso.data[4 * i] < 140 || worn.torso.data[4 * i + 3] < 250) continue
      x += parts.across.data[i]
      y += parts.along.data[i]
      count++
    }
    expect(count).toBeGreaterThan(0.005 * body.unit * body.unit)
    expect(Math.abs(x / count)).toBeLessThan(0.08)
    expect(y / count).toBeGreaterThan(0.2)
    expect(y / count).toBeLessThan(0.6)
  })

  it('extends long sleeves over the elbows to the wrists', () => {
    const { sleeves } = warp(pullover)
    for (const { side, layer } of sleeves) {
      const { elbow, wrist } = body.joints
      const forearm = { x: 0.2 * elbow[side].x + 0.8 * wrist[side].x, y: 0.2 * elbow[side].y + 0.8 * wrist[side].y }
      for (const joint of [elbow[side], forearm]) expect(layer.data[4 * indexOf(joint) + 3]).toBeGreaterThan(200)
    }
    expect(sleeves.map(({ side }) => side)).toEqual([0, 1])
  })
})
