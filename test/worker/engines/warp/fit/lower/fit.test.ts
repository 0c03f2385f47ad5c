import { expect, it } from 'vitest'
import { partDress } from '../../../../../../worker/engines/warp/fit/lower/fit.ts'
import { measureBody } from '../../../../../../worker/vision/body/body-frame.ts'
import { findParts } from '../../../../../../worker/vision/body/parts.ts'
import { COLOURS, drawPerson } from '../../../../vision/body/drawn-person.ts'

const partsIn = (lower: (typeof COLOURS)['top'] | (typeof COLOURS)['lower']) => {
  const { person, photo } = drawPerson(undefined, { lower })
  return findParts(photo, person, measureBody(person))
}

it('splits a dress at the waist, so that no cloth covers new trousers', () => {
  const seen = partsIn(COLOURS.top)
  const { top, lower } = partDress(seen)
  const hanging = [...top.data.keys()].filter((i) => seen.along.data[i] > 0.82 && seen.top.data[i] === 1)
  expect(hanging.length).toBeGreaterThan(500)
  expect(hanging.filter((i) => top.data[i] === 1 || lower.data[i] === 0)).toEqual([])
})

it('does not split a top over trousers of another cloth', () => {
  const seen = partsIn(COLOURS.lower)
  expect(partDress(seen)).toBe(seen)
})
