import { expect, it } from 'vitest'
import { findStrain } from '../../../../worker/vision/quality/strain.ts'
import { drawPerson, labelsOf } from '../body/drawn-person.ts'

it('counts the coat of a photo, and the skin and the background that a result adds', () => {
  const { photo, drawn } = drawPerson()
  const { width } = photo
  const isPerson = (i: number) => Object.values(drawn).some((mask) => mask.data[i] === 1)
  const before = labelsOf(photo, (i) => (isPerson(i) ? 'outer' : 'background'))
  const after = labelsOf(photo, (i) => (isPerson(i) ? (i % width < 200 ? 'arms' : 'background') : 'background'))
  const { skin, background, outer } = findStrain(before, after)
  expect(outer).toBeCloseTo(1, 5)
  expect(skin + background).toBeCloseTo(1, 5)
  expect(skin).toBeGreaterThan(0.1)
  expect(findStrain(after, after)).toEqual({ skin: 0, background: 0, outer: 0 })
})
