import { describe, expect, it } from 'vitest'
import type { Placement } from '../../../../../../worker/engines/warp/fit/upper/fitting.ts'
import { placeGarment, placeUpper } from '../../../../../../worker/engines/warp/fit/upper/place.ts'
import { measureBody } from '../../../../../../worker/vision/body/body-frame.ts'
import type { UpperGarment } from '../../../../../../worker/vision/garment/garment.ts'
import type { Point } from '../../../../../../worker/vision/raster/plane.ts'
import {
  ARMS_AWAY,
  ARMS_BENT,
  drawPerson,
  type Pose,
  partsOf,
  TORSO_HALF_WIDTH,
} from '../../../../vision/body/drawn-person.ts'
import { drawDress, drawGarment } from '../../drawn-garment.ts'
import { lookAt } from '../../lay-garment.ts'

function look(pose: Pose = ARMS_AWAY) {
  const { person, photo } = drawPerson(pose)
  return lookAt(person, photo)
}

const place = (garment: UpperGarment, pose?: Pose): Placement => placeGarment({ ...look(pose), garment })

const mirror = ({ x, y }: Point) => ({ x: 480 - x, y })

const distanceTo = (points: readonly Point[], { x, y }: Point) =>
  Math.min(...points.map((p) => Math.hypot(p.x - x, p.y - y)))

// Seen from above, a trunk that leans is short; `knees` in px of the photo.
function seated({ knees }: { knees: number }) {
  const { person, photo } = drawPerson()
  const { leftHip, rightHip, leftKnee, rightKnee } = person.landmarks
  const landmarks = {
    ...person.landmarks,
    leftHip: { ...leftHip, y: 290 },
    rightHip: { ...rightHip, y: 290 },
    leftKnee: { ...leftKnee, y: knees },
    rightKnee: { ...rightKnee, y: knees },
  }
  const sitting = { ...person, landmarks }
  const body = measureBody(sitting)
  return { person: sitting, body, parts: partsOf(photo, sitting) }
}

describe('a seated person', () => {
  it('keeps the proportions of a top, because the lap hides its hem', () => {
    expect(() => placeUpper(seated({ knees: 420 }), drawGarment())).toThrow('proportions')
    expect(placeUpper(seated({ knees: 320 }), drawGarment()).placement.aspect).toBeGreaterThan(0.75)
  })

  it('is rejected for a dress', () => {
    const dress = { ...drawDress(), kindFrom: 'words' } as const
    expect(() => placeUpper(seated({ knees: 320 }), dress)).toThrow('The person is not standing')
  })
})

describe('placeGarment', () => {
  const shirt = place(drawGarment())

  it('lies symmetrically on a symmetric person', () => {
    for (const [left, right] of [shirt.tips, shirt.armpits, shirt.neckCorners]) {
      expect(Math.abs(mirror(left).x - right.x)).toBeLessThan(1.5)
      expect(Math.abs(left.y - right.y)).toBeLessThan(1.5)
    }
  })

  it('does not mirror the garment', () => {
    for (const [i, { x }] of shirt.source.entries())
      if (Math.abs(x - 300) > 8) expect(Math.sign(shirt.target[i].x - 240)).toBe(Math.sign(x - 300))
  })

  it('ends shoulder seams at the shoulders, and the hem below the worn hem', () => {
    expect(Math.abs(shirt.tips[0].y - 184)).toBeLessThan(8)
    expect(Math.abs(shirt.tips[0].x - 174)).toBeLessThan(10)
    // The drawn top ends at y = 385, F = 1.16.
    expect(Math.abs(shirt.oldHem - 1.16)).toBeLessThan(0.04)
    expect(shirt.hem).toBeGreaterThanOrEqual(shirt.oldHem)
    expect(shirt.hem).toBeLessThan(1.3)
  })

  it('is slightly wider than the torso', () => {
    const waist = shirt.target.filter(({ y }) => y > 290 && y < 350)
    const widest = Math.max(...waist.map(({ x }) => Math.abs(x - 240)))
    expect(widest).toBeGreaterThan(TORSO_HALF_WIDTH)
    expect(widest).toBeLessThan(1.28 * TORSO_HALF_WIDTH)
  })

  it('places a dress known only by outline as a top, unless it covers the thighs', () => {
    const short = { ...drawGarment(), kind: 'dress', kindFrom: 'outline' } as const
    const doubtful = placeUpper(look(), short)
    expect(doubtful.garment.kind).toBe('top')
    expect(doubtful.placement.hem).toBeLessThan(1.5)
    expect(doubtful.placement.warnings).toContain('CATEGORY_ASSUMED')
    const named = placeUpper(look(), { ...short, kindFrom: 'words' })
    expect(named.garment.kind).toBe('dress')
    expect(named.placement.warnings).not.toContain('CATEGORY_ASSUMED')
  })

  it('ends a short sleeve on the upper arm and a long one at the wrist', () => {
    const [short] = shirt.sleeves
    expect(short.long).toBe(false)
    expect(short.length).toBeLessThan(short.profile.upperLength)
    const [left, right] = place(drawGarment({ sleeves: 'long' })).sleeves
    expect(left.long && right.long).toBe(true)
    expect(left.length / left.profile.length).toBeCloseTo(0.985)
  })

  it('bends long sleeves around a bent elbow', () => {
    const { sleeves } = place(drawGarment({ sleeves: 'long' }), ARMS_BENT)
    const elbow = { x: 240 + 60 + 70, y: 200 + 50 }
    const wrist = { x: 240 + 60 + 62, y: 200 + 130 }
    const middles = sleeves[1].target.map((row) => row[4])
    expect(distanceTo(middles, elbow)).toBeLessThan(14)
    expect(distanceTo(middles, wrist)).toBeLessThan(14)
  })

  it.each<{ arms: string; pose: Pose }>([
    { arms: 'held out', pose: { elbow: { x: 86, y: 4 }, wrist: { x: 166, y: 8 } } },
    { arms: 'raised to the side', pose: { elbow: { x: 80, y: -34 }, wrist: { x: 150, y: -76 } } },
    { arms: 'raised above the head', pose: { elbow: { x: 40, y: -78 }, wrist: { x: 56, y: -150 } } },
  ])('turns the sleeves with arms that are $arms', ({ pose }) => {
    const raised = place(drawGarment(), pose)
    for (const { side, outer, inner, profile } of raised.sleeves) {
      // The shoulder's side of a raised arm is its upper edge, the armpit's its lower one.
      for (const share of [0.3, 0.6, 0.9]) {
        const row = Math.round(share * (outer.length - 1))
        expect(outer[row].y).toBeLessThan(inner[row].y)
      }
      const bone = profile.points[8]
      expect(Math.max(...outer.map((p) => p.y))).toBeLessThan(raised.armpits[side].y)
      expect(distanceTo(outer, bone)).toBeGreaterThan(8)
      expect(distanceTo(inner, bone)).toBeGreaterThan(8)
    }
    // It is no smaller garment than on hanging arms.
    expect(Math.abs(raised.hem - shirt.hem)).toBeLessThan(0.05)
    for (const side of [0, 1] as const) expect(distanceTo([raised.tips[side]], shirt.tips[side])).toBeLessThan(45)
  })

  it('has no sleeves and narrower shoulders for a sleeveless garment', () => {
    const vest = place(drawGarment({ sleeves: 'none' }))
    expect(vest.sleeves).toEqual([])
    expect(vest.arms[0].length).toBeGreaterThan(100)
    expect(vest.tips[0].x).toBeGreaterThan(shirt.tips[0].x)
    expect(vest.source.length).toBe(vest.target.length)
  })

  it('keeps the cut of a skirt below the hips', () => {
    const dress = place(drawDress())
    const { person } = drawPerson()
    const body = measureBody(person)
    const widthAt = (f: number) => {
      const y = body.shoulders.y + f * body.trunk
      const near = dress.target.filter((p) => Math.abs(p.y - y) < 0.1 * body.trunk)
      return Math.max(...near.map(({ x }) => Math.abs(x - 240)))
    }
    expect(dress.hem).toBeGreaterThan(1.9)
    expect(widthAt(1.9)).toBeGreaterThan(1.4 * widthAt(0.8))
    expect(dress.sleeves).toEqual([])
  })

  it('rejects a garment that would be stretched too far', () => {
    const garment = drawGarment()
    const short = (p: Point) => ({ x: p.x, y: p.y > 300 ? 300 + 0.1 * (p.y - 300) : p.y })
    const cropped: UpperGarment = {
      ...garment,
      sides: [
        { ...garment.sides[0], side: garment.sides[0].side.map(short), hem: garment.sides[0].hem.map(short) },
        { ...garment.sides[1], side: garment.sides[1].side.map(short), hem: garment.sides[1].hem.map(short) },
      ],
      landmarks: [
        { ...garment.landmarks[0], hem: { x: 200, y: 190 } },
        { ...garment.landmarks[1], hem: { x: 400, y: 190 } },
      ],
    }
    expect(() => place(cropped)).toThrow(expect.objectContaining({ code: 'RESULT_REJECTED' }))
  })

  it('warns of an asymmetric garment', () => {
    expect(shirt.warnings).toEqual([])
    expect(place({ ...drawGarment(), symmetry: 0.8 }).warnings).toEqual(['GARMENT_ASYMMETRIC'])
  })
})
