import { describe, expect, it } from 'vitest'
import { LANDMARKS, type Person } from '../../../../worker/vision/person/person.ts'
import { personWithin } from '../../../../worker/vision/person/within.ts'

const landmark = { x: 30, y: 20, z: 0, visibility: 1, presence: 1 }
const data = new Float32Array(60 * 40)
for (let y = 10; y < 30; y++) data.fill(1, y * 60 + 20, y * 60 + 40)
const person: Person = {
  landmarks: Object.fromEntries(LANDMARKS.map((name) => [name, landmark])) as Person['landmarks'],
  face: [
    { x: 28, y: 16 },
    { x: 32, y: 16 },
    { x: 30, y: 22 },
  ],
  hands: [
    {
      points: [{ x: 24, y: 26 }],
      share: { width: 2, height: 2, data: Float32Array.of(0, 0.5, 1, 1) },
      first: { x: 22, y: 24 },
      last: { x: 26, y: 28 },
    },
  ],
  mask: { width: 60, height: 40, data },
  box: { x: 20, y: 10, width: 20, height: 20 },
  score: 0.9,
  presence: 0.9,
  people: 1,
}

describe('a person within a region of the image', () => {
  it('keeps world coordinates', () => {
    const part = personWithin(person, { x: 15, y: 5, width: 20, height: 30 })
    expect(part?.landmarks.nose).toMatchObject({ x: 15, y: 15 })
    expect(part?.face?.[2]).toEqual({ x: 15, y: 17 })
    expect(part?.hands).toMatchObject([{ points: [{ x: 9, y: 21 }], first: { x: 7, y: 19 }, last: { x: 11, y: 23 } }])
    expect(part?.mask).toMatchObject({ width: 20, height: 30 })
    expect(part?.box).toEqual({ x: 5, y: 5, width: 15, height: 20 })
  })

  it('is null outside the person', () => {
    expect(personWithin(person, { x: 45, y: 0, width: 10, height: 10 })).toBeNull()
  })
})
