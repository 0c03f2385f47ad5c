import { describe, expect, it } from 'vitest'
import { changeRegion } from '../../../../worker/engines/fashn-vton/region.ts'
import type { Landmark, LandmarkName, Person } from '../../../../worker/vision/person/person.ts'
import { createPlane } from '../../../../worker/vision/raster/plane.ts'

const SIZE = { width: 200, height: 300 }
const at = (x: number, y: number): Landmark => ({ x, y, z: 0, visibility: 1, presence: 1 })
/** A person who stands upright in the middle: shoulders at 100, hips at 170, feet at 290. */
const LANDMARKS: Partial<Record<LandmarkName, Landmark>> = {
  nose: at(100, 70),
  leftEye: at(106, 64),
  rightEye: at(94, 64),
  mouthLeft: at(104, 76),
  mouthRight: at(96, 76),
  leftShoulder: at(120, 100),
  rightShoulder: at(80, 100),
  leftElbow: at(125, 130),
  rightElbow: at(75, 130),
  leftWrist: at(127, 160),
  rightWrist: at(73, 160),
  leftHip: at(110, 170),
  rightHip: at(90, 170),
}

function personWith(
  landmarks: Partial<Record<LandmarkName, Landmark>> = {},
  alsoAt?: { x: number; y: number },
): Person {
  const mask = createPlane(SIZE)
  const isBody = (x: number, y: number) => Math.abs(x - 100) < 30 && y > 50 && y < 290
  const isArm = (x: number, y: number) => alsoAt !== undefined && Math.hypot(x - alsoAt.x, y - alsoAt.y) < 8
  for (let i = 0; i < mask.data.length; i++) {
    const [x, y] = [i % SIZE.width, Math.floor(i / SIZE.width)]
    if (isBody(x, y) || isArm(x, y)) mask.data[i] = 1
  }
  const all = { ...LANDMARKS, ...landmarks } as Person['landmarks']
  return {
    landmarks: all,
    mask,
    box: { x: 70, y: 50, width: 60, height: 240 },
    score: 1,
    presence: 1,
    people: 1,
    face: null,
    hands: [],
  }
}

describe('the part of a photo that a garment replaces', () => {
  const shareAt = (person: Person, category: 'tops' | 'bottoms' | 'one-pieces', x: number, y: number) =>
    changeRegion(person, category, SIZE).data[y * SIZE.width + x]

  it.each([
    ['tops', { chest: 1, knees: 0, face: 0, wall: 0 }],
    ['bottoms', { chest: 0, knees: 1, face: 0, wall: 0 }],
    ['one-pieces', { chest: 1, knees: 1, face: 0, wall: 0 }],
  ] as const)('covers %s', (category, expected) => {
    const person = personWith()
    const seen = {
      chest: shareAt(person, category, 100, 120),
      knees: shareAt(person, category, 100, 240),
      face: shareAt(person, category, 100, 70),
      wall: shareAt(person, category, 10, 150),
    }
    for (const [place, share] of Object.entries(expected))
      expect(seen[place as keyof typeof seen], place).toBeCloseTo(share, 2)
  })

  it('follows raised arms above the head', () => {
    const raised = { leftElbow: at(150, 70), leftWrist: at(150, 30) }
    const hand = { x: 150, y: 40 }
    expect(shareAt(personWith(raised, hand), 'tops', hand.x, hand.y)).toBeCloseTo(1, 2)
    expect(shareAt(personWith(raised, hand), 'bottoms', hand.x, hand.y)).toBe(0)
  })

  it('has the requested size, with values between 0 and 1', () => {
    const { width, height, data } = changeRegion(personWith(), 'tops', { width: 100, height: 150 })
    expect([width, height]).toEqual([100, 150])
    expect(data.every((share) => share >= 0 && share <= 1)).toBe(true)
    expect(data.some((share) => share > 0 && share < 1)).toBe(true)
  })
})
