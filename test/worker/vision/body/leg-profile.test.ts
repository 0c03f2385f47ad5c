import { describe, expect, it } from 'vitest'
import { measureBody } from '../../../../worker/vision/body/body-frame.ts'
import { besideLeg, measureLeg } from '../../../../worker/vision/body/leg-profile.ts'
import { drawPerson } from './drawn-person.ts'

const { person } = drawPerson()
const body = measureBody(person)
const legs = [measureLeg(person, body, { side: 0 }), measureLeg(person, body, { side: 1 })] as const

describe('a measured leg', () => {
  it('runs from hip through knee to ankle', () => {
    for (const { length, thigh, points } of legs) {
      expect(thigh).toBeCloseTo(170, 0)
      expect(length).toBeCloseTo(330, 0)
      expect(points[points.length - 1].y).toBeCloseTo(690, 0)
    }
  })

  it('has an outer edge where the drawn trousers end', () => {
    // At the knees' height the drawn legs reach from 6 to 64 px beside the axis, and the bones lie at 38.
    for (const { along, outer, thigh } of legs) {
      const knee = along.findIndex((way) => way >= thigh)
      expect(Math.abs(outer[knee] - 25)).toBeLessThan(4)
    }
  })

  it('has its outer side away from the other leg', () => {
    expect(besideLeg(legs[0], 100, 20).x).toBeLessThan(besideLeg(legs[0], 100, 0).x)
    expect(besideLeg(legs[1], 100, 20).x).toBeGreaterThan(besideLeg(legs[1], 100, 0).x)
  })

  it('continues straight below the ankle', () => {
    const { length } = legs[1]
    expect(besideLeg(legs[1], length + 20, 0).y - besideLeg(legs[1], length, 0).y).toBeCloseTo(20, 0)
  })

  it('continues straight when knee and ankle are outside the photo', () => {
    const unseen = (name: 'leftKnee' | 'leftAnkle') => ({ ...person.landmarks[name], x: 0, y: 0, presence: 0.1 })
    const landmarks = { ...person.landmarks, leftKnee: unseen('leftKnee'), leftAnkle: unseen('leftAnkle') }
    const { points, length } = measureLeg({ ...person, landmarks }, body, { side: 1 })
    expect(length).toBeCloseTo(1.7 * body.trunk, 0)
    expect(points[40].x).toBeCloseTo(points[0].x, 0)
  })
})
