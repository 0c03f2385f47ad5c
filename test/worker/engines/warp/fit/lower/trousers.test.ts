import { expect, it } from 'vitest'
import { measureBody } from '../../../../../../worker/body/body-frame.ts'
import { findParts } from '../../../../../../worker/body/parts.ts'
import { createView } from '../../../../../../worker/body/view.ts'
import { fitLower } from '../../../../../../worker/engines/warp/fit/lower/fit.ts'
import { prepareGarment } from '../../../../../../worker/garment/prepare-garment.ts'
import { drawPerson } from '../../../../body/drawn-person.ts'
import { readGarment } from '../../../../garment/known-garments.ts'

it('draws both legs of shorts equally long, even if one inseam follows a frayed hem', async () => {
  const drawn = drawPerson()
  const view = await createView(drawn.photo, drawn.person, { long: true })
  const { person, analysed } = view
  const body = measureBody(person)
  const parts = findParts(analysed, person, body)
  const shorts = prepareGarment((await readGarment('shorts_beige')).bitmap, { category: 'bottoms' })
  if (shorts.kind !== 'trousers') throw new Error(`seen as ${shorts.kind}`)
  const [left, right] = shorts.inseams
  const thread = left.map(({ x, y }) => ({ x: x + 5, y }))
  const frayed = { ...shorts, inseams: [[...left, ...thread.toReversed(), ...thread], right] as const }
  const { placement } = fitLower({ long: true, view, person, body, parts }, frayed)
  const [a, b] = placement.covered
  expect(a / b).toBeGreaterThan(0.85)
  expect(a / b).toBeLessThan(1.15)
})
