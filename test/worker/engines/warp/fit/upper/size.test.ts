import { describe, expect, it } from 'vitest'
import { chooseSize } from '../../../../../../worker/engines/warp/fit/upper/size.ts'
import { findWornHem } from '../../../../../../worker/engines/warp/fit/upper/worn-hem.ts'
import { measureBody } from '../../../../../../worker/vision/body/body-frame.ts'
import type { UpperGarment } from '../../../../../../worker/vision/garment/garment.ts'
import { drawPerson, partsOf } from '../../../../vision/body/drawn-person.ts'
import { drawDress, drawGarment } from '../../drawn-garment.ts'

const { person, photo } = drawPerson()
const body = measureBody(person)
const parts = partsOf(photo, person)
const oldHem = findWornHem(person.mask, parts)
const sizeOf = (garment: UpperGarment) => chooseSize({ mask: person.mask, body, garment, oldHem })

// Moves the ends of the shoulder seams outwards, as wings, puffs and dropped shoulders do.
function widenShoulders(garment: UpperGarment, by: number): UpperGarment {
  const [left, right] = garment.landmarks
  return {
    ...garment,
    landmarks: [
      { ...left, shoulder: { ...left.shoulder, x: left.shoulder.x - by } },
      { ...right, shoulder: { ...right.shoulder, x: right.shoulder.x + by } },
    ],
  }
}

describe('chooseSize', () => {
  it('takes the size of a dress with winged shoulders from its chest', () => {
    const winged = sizeOf(widenShoulders(drawDress(), 90))
    expect(winged.across).toBeGreaterThan(0.85 * sizeOf(drawDress()).across)
    expect(winged.hem).toBeGreaterThan(0.85 * sizeOf(drawDress()).hem)
  })

  it('enlarges a top only a little by its chest, because its cloth can be elastic', () => {
    const [plain, winged] = [sizeOf(drawGarment()), sizeOf(widenShoulders(drawGarment(), 90))]
    const shoulders = plain.across * ((2 * 95) / (2 * (95 + 90)))
    expect(winged.across / shoulders).toBeGreaterThan(1.1)
    expect(winged.across / shoulders).toBeLessThan(1.2)
  })

  it('enlarges a top with dropped shoulders until its long sleeves reach the wrists', () => {
    const long = drawGarment({ sleeves: 'long' })
    const sleeve = (size: number) => {
      const arm = Math.hypot(58, 66) + Math.hypot(112 - 58, 128 - 66)
      return (size * Math.hypot(205 - 95, 400 - 118)) / arm
    }
    // At the size of its shoulders the sleeve would end between 0.8 of the arm and the wrist.
    const dropped = sizeOf(widenShoulders(long, 10))
    expect(sleeve(dropped.across)).toBeGreaterThan(0.95)
  })
})
