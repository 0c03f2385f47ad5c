import { describe, expect, it } from 'vitest'
import { measureArm } from '../../../../worker/vision/body/arm-profile.ts'
import { halfWidthAt, measureBody } from '../../../../worker/vision/body/body-frame.ts'
import type { Landmark, LandmarkName, Person } from '../../../../worker/vision/person/person.ts'
import { ARM_RADIUS, ARMS_BENT, drawPerson, TORSO_HALF_WIDTH } from './drawn-person.ts'

function moved(person: Person, move: (landmark: Landmark, name: LandmarkName) => Partial<Landmark>): Person {
  const landmarks = Object.fromEntries(
    Object.entries(person.landmarks).map(([name, landmark]) => [
      name,
      { ...landmark, ...move(landmark, name as LandmarkName) },
    ]),
  ) as Person['landmarks']
  return { ...person, landmarks }
}

describe('measureBody', () => {
  const { person } = drawPerson()
  const body = measureBody(person)

  it('aligns the axes of an upright person with the photo', () => {
    expect(body.down).toEqual({ x: 0, y: 1 })
    expect(body.right.x).toBe(1)
    expect(body.shoulders).toEqual({ x: 240, y: 200 })
    expect(body.trunk).toBe(160)
    expect(body.unit).toBe(120)
  })

  it('is symmetric for a symmetric person', () => {
    expect(body.shoulderTip[0].x + body.shoulderTip[1].x).toBeCloseTo(480, 1)
    expect(body.shoulderTip[0].y).toBeCloseTo(body.shoulderTip[1].y, 1)
    expect(body.armRadius[0]).toBeCloseTo(body.armRadius[1], 1)
    for (let i = 0; i < body.fractions.length; i++)
      expect(Math.abs(body.halfWidths[0][i] - body.halfWidths[1][i])).toBeLessThan(1)
  })

  it('measures the drawn torso between armpits and hips', () => {
    for (const fraction of [0.5, 0.7, 0.9, 1.1])
      expect(Math.abs(halfWidthAt(body, fraction, 0) - TORSO_HALF_WIDTH)).toBeLessThan(2.5)
  })

  it('measures the drawn arms', () => {
    expect(Math.abs(body.armRadius[0] - ARM_RADIUS)).toBeLessThan(1)
  })

  it('measures the torso without arms that hang close', () => {
    const hanging = drawPerson({ elbow: { x: 14, y: 84 }, wrist: { x: 12, y: 160 } }).person
    const narrow = measureBody(hanging)
    for (const fraction of [0.6, 0.9]) {
      expect(halfWidthAt(narrow, fraction, 1)).toBeGreaterThan(0.7 * TORSO_HALF_WIDTH)
      expect(halfWidthAt(narrow, fraction, 1)).toBeLessThan(1.15 * TORSO_HALF_WIDTH)
    }
  })

  it('rejects a person with hidden shoulders', () => {
    const hidden = moved(person, (_, name) => (name === 'leftShoulder' ? { visibility: 0.2 } : {}))
    expect(() => measureBody(hidden)).toThrow(expect.objectContaining({ code: 'NO_PERSON_DETECTED' }))
  })

  it('rejects a person seen from behind', () => {
    expect(() => measureBody(moved(person, ({ x }) => ({ x: 480 - x })))).toThrow(
      expect.objectContaining({ code: 'RESULT_REJECTED' }),
    )
  })

  it('rejects a person turned to the side', () => {
    const turned = moved(person, ({ x }) => ({ x: 240 + 0.4 * (x - 240) }))
    expect(() => measureBody(turned)).toThrow(expect.objectContaining({ code: 'RESULT_REJECTED' }))
  })
})

describe('measureArm', () => {
  const { person } = drawPerson(ARMS_BENT)
  const body = measureBody(person)

  it('follows the bones around a bent elbow', () => {
    const arm = measureArm(person.mask, body, 1)
    const elbow = body.joints.elbow[1]
    const nearest = Math.min(...arm.points.map((p) => Math.hypot(p.x - elbow.x, p.y - elbow.y)))
    expect(nearest).toBeLessThan(0.05 * arm.length)
    expect(arm.points[0]).toEqual(body.joints.shoulder[1])
    expect(arm.length).toBeCloseTo(arm.upperLength + Math.hypot(8, 80))
  })

  it('measures both edges of the arm', () => {
    const arm = measureArm(person.mask, body, 0)
    const middle = arm.along.findIndex((way) => way > 0.7 * arm.upperLength)
    expect(Math.abs(arm.outer[middle] - ARM_RADIUS)).toBeLessThan(1.5)
    expect(Math.abs(arm.inner[middle] - ARM_RADIUS)).toBeLessThan(1.5)
    expect(arm.normals[0].x).toBeLessThan(0)
  })
})
