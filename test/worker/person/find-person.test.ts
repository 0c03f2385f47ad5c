import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Models, openModels } from '../../../worker/inference/models.ts'
import { findPerson } from '../../../worker/person/find-person.ts'
import type { Person } from '../../../worker/person/person.ts'
import { FIGURES, type Figure, readFigure } from './pictures.ts'

let models: Models
beforeAll(async () => {
  models = await openModels('worker/models')
})
afterAll(() => models.release())

const found = (person: Person | null): Person => {
  if (person === null) throw new Error('nobody was found')
  return person
}

describe.each(FIGURES)('the figure %s', (name) => {
  let figure: Figure
  let person: Person
  beforeAll(async () => {
    figure = await readFigure(name)
    person = found(await findPerson(figure.picture, models))
  })

  it('is one person, seen with confidence', () => {
    expect(person.people).toBe(1)
    expect(person.score).toBeGreaterThan(0.9)
    expect(person.presence).toBeGreaterThan(0.9)
  })

  it('has its joints within 1.5 % of the body height in the median, and 2.6 % at most', () => {
    const errors = figure.joints
      .map(([landmark, { x, y }]) => Math.hypot(person.landmarks[landmark].x - x, person.landmarks[landmark].y - y))
      .map((distance) => (100 * distance) / figure.bodyHeight)
      .sort((a, b) => a - b)
    expect(errors[errors.length >> 1]).toBeLessThan(1.5)
    expect(errors[errors.length - 1]).toBeLessThan(2.6)
  })

  it('is covered by the mask: overlap over union of 0.98 or more', () => {
    const { data } = person.mask
    let both = 0
    let either = 0
    for (let i = 0; i < data.length; i++) {
      const seen = data[i] > 0.5 ? 1 : 0
      both += seen & figure.mask.data[i]
      either += seen | figure.mask.data[i]
    }
    expect(both / either).toBeGreaterThanOrEqual(0.98)
  })

  it('lies in the box, hair and feet included, to a few pixels', () => {
    const { x, y, width, height } = person.box
    expect(Math.abs(x - figure.box.left)).toBeLessThanOrEqual(8)
    expect(Math.abs(y - figure.box.top)).toBeLessThanOrEqual(4)
    expect(Math.abs(x + width - figure.box.right)).toBeLessThanOrEqual(8)
    expect(Math.abs(y + height - figure.box.bottom)).toBeLessThanOrEqual(4)
  })
})
