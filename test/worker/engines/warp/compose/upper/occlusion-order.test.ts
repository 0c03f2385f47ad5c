import { describe, expect, it } from 'vitest'
import { composeUpper } from '../../../../../../worker/engines/warp/compose/upper/compose.ts'
import { removeUpper } from '../../../../../../worker/engines/warp/remove/upper/remove.ts'
import { blendChange } from '../../../../../../worker/vision/composite/blend.ts'
import type { UpperGarment } from '../../../../../../worker/vision/garment/garment.ts'
import { type Bitmap, bitmapToColours, type Point } from '../../../../../../worker/vision/raster/plane.ts'
import {
  ARMS_AWAY,
  ARMS_BENT,
  COLOURS,
  type Colour,
  drawPerson,
  type Pose,
} from '../../../../vision/body/drawn-person.ts'
import { CLOTH, drawGarment } from '../../drawn-garment.ts'
import { layGarment } from '../../lay-garment.ts'

/** Forearms that lie across the belly. */
const ARMS_CROSSED: Pose = { elbow: { x: 26, y: 92 }, wrist: { x: -46, y: 96 } }

function dress(pose: Pose, garment: UpperGarment = drawGarment()) {
  const { person, photo } = drawPerson(pose)
  const { fitting, layers, flat } = layGarment(person, photo, garment)
  const removal = removeUpper(fitting, { photo: bitmapToColours(photo), garment: flat })
  const composed = composeUpper(fitting, { photo, layers, garment: flat, removal })
  return { ...composed, person, photo, result: blendChange({ photo, ...composed }) }
}

const colourAt = ({ width, data }: Bitmap, { x, y }: Point) =>
  data.subarray((Math.round(y) * width + Math.round(x)) * 3, (Math.round(y) * width + Math.round(x)) * 3 + 3)
const distance = (a: ArrayLike<number>, b: Colour) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])

describe('compositing in occlusion order', () => {
  const { person, photo, change, result } = dress(ARMS_AWAY)
  const at = ({ x, y }: Point) => Math.round(y) * photo.width + Math.round(x)

  it('shows the garment on the chest', () => {
    expect(distance(colourAt(result, { x: 240, y: 300 }), CLOTH)).toBeLessThan(25)
    expect(change.data[at({ x: 240, y: 300 })]).toBe(1)
  })

  it('does not change face, hair, hands and legs', () => {
    const { nose, leftWrist, rightWrist, leftKnee } = person.landmarks
    const kept = [nose, { x: 240, y: 80 }, leftKnee, ...[leftWrist, rightWrist].map(({ x, y }) => ({ x, y: y + 8 }))]
    for (const { x, y } of kept) {
      for (let dy = -4; dy <= 4; dy++) expect(change.data[at({ x, y: y + dy })]).toBe(0)
      expect([...colourAt(result, { x, y })]).toEqual([...colourAt(photo, { x, y })])
    }
  })

  it('darkens the trousers only just below the hem', () => {
    const column = Array.from({ length: 120 }, (_, k) => ({ x: 255, y: 380 + k })).filter(
      (point) => distance(colourAt(result, point), CLOTH) > 60,
    )
    const first = column[2]
    expect(colourAt(result, first)[0]).toBeLessThan(COLOURS.lower[0])
    expect([...colourAt(result, { x: 255, y: first.y + 60 })]).toEqual([...COLOURS.lower])
  })

  it('is deterministic', () => {
    expect(dress(ARMS_AWAY).result).toEqual(result)
  })

  it('keeps crossed forearms in front of the garment', () => {
    const crossed = dress(ARMS_CROSSED)
    const { leftElbow, leftWrist } = crossed.person.landmarks
    const forearm = { x: 0.4 * leftElbow.x + 0.6 * leftWrist.x, y: 0.4 * leftElbow.y + 0.6 * leftWrist.y }
    expect(distance(colourAt(crossed.result, forearm), COLOURS.skin)).toBeLessThan(20)
    expect(distance(colourAt(crossed.result, { x: 240, y: 240 }), CLOTH)).toBeLessThan(25)
  })

  it('draws the garment over a slit of shaded wall beside an arm that is labelled as skin', () => {
    const { person, photo: whole } = drawPerson(ARMS_CROSSED)
    const slit = { ...whole, data: whole.data.slice() }
    const { leftElbow, leftWrist } = person.landmarks
    const y = Math.round(0.4 * leftElbow.y + 0.6 * leftWrist.y)
    const middle = Math.round(0.4 * leftElbow.x + 0.6 * leftWrist.x)
    const wall = Array.from({ length: 60 }, (_, k) => (y + (k % 2)) * slit.width + middle - 15 + (k >> 1))
    for (const i of wall) slit.data.set([150, 150, 154], i * 3)
    const { fitting, layers, flat } = layGarment(person, slit, drawGarment())
    const skin = { ...fitting.parts.skin, data: fitting.parts.skin.data.slice() }
    for (const i of wall) skin.data[i] = 1
    const labelled = { ...fitting, parts: { ...fitting.parts, skin } }
    const removal = removeUpper(labelled, { photo: bitmapToColours(slit), garment: flat })
    const { image } = composeUpper(labelled, { photo: slit, layers, garment: flat, removal })
    const inside = wall.slice(16, -16).map((i) => distance(image.data.subarray(i * 3, i * 3 + 3), CLOTH))
    expect(Math.max(...inside)).toBeLessThan(60)
  })

  it('draws long sleeves over bare arms, and hands over long sleeves', () => {
    const long = dress(ARMS_BENT, drawGarment({ sleeves: 'long' }))
    const { leftElbow, leftWrist } = long.person.landmarks
    const forearm = { x: (leftElbow.x + leftWrist.x) / 2, y: (leftElbow.y + leftWrist.y) / 2 }
    expect(distance(colourAt(long.result, forearm), CLOTH)).toBeLessThan(50)
    expect(distance(colourAt(long.result, { x: leftWrist.x, y: leftWrist.y + 16 }), COLOURS.skin)).toBeLessThan(20)
  })

  it('shows bare shoulders beside a sleeveless garment', () => {
    const vest = dress(ARMS_AWAY, drawGarment({ sleeves: 'none' }))
    const { leftShoulder, leftElbow } = vest.person.landmarks
    const arm = { x: (leftShoulder.x + leftElbow.x) / 2 + 4, y: (leftShoulder.y + leftElbow.y) / 2 }
    expect([...colourAt(vest.result, arm)]).toEqual([...COLOURS.skin])
  })
})
