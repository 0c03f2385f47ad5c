import { expect, it } from 'vitest'
import { fitLower } from '../../../../../../worker/engines/warp/fit/lower/fit.ts'
import { measureBody } from '../../../../../../worker/vision/body/body-frame.ts'
import { createView } from '../../../../../../worker/vision/body/view.ts'
import { maskToPlane, type Point } from '../../../../../../worker/vision/raster/plane.ts'
import { fillCapsules } from '../../../../../../worker/vision/raster/polygon.ts'
import { drawPerson, labelsOf, partsOf } from '../../../../vision/body/drawn-person.ts'
import { readGarment } from '../../../../vision/garment/known-garments.ts'
import { prepareGarment } from '../../../../vision/garment/prepare-by-outline.ts'

it('draws both legs of shorts equally long, even if one inseam follows a frayed hem', async () => {
  const drawn = drawPerson()
  const view = await createView(drawn.photo, drawn.person, { long: true })
  const { person, analysed } = view
  const body = measureBody(person)
  const parts = partsOf(analysed, person)
  const shorts = prepareGarment((await readGarment('shorts_beige')).bitmap, { category: 'bottoms' })
  if (shorts.kind !== 'trousers') throw new Error(`seen as ${shorts.kind}`)
  const [left, right] = shorts.inseams
  const thread = left.map(({ x, y }) => ({ x: x + 5, y }))
  const frayed = { ...shorts, inseams: [[...left, ...thread.toReversed(), ...thread], right] as const }
  const { placement } = fitLower({ long: true, view, person, body, parts, labels: labelsOf(analysed) }, frayed)
  const [a, b] = placement.covered
  expect(a / b).toBeGreaterThan(0.85)
  expect(a / b).toBeLessThan(1.15)
})

it('draws a seam without a step below the hips of legs that stand apart', async () => {
  const drawn = drawPerson()
  const { landmarks } = drawn.person
  const apart = Object.fromEntries(
    Object.entries(landmarks).map(([name, point]) => [name, /Knee|Ankle|Heel|Foot/.test(name) ? spread(point) : point]),
  ) as typeof landmarks
  const mask = maskToPlane(fillCapsules(drawn.person.mask, legOf(apart, 'left'), [40, 34, 28]))
  const other = fillCapsules(drawn.person.mask, legOf(apart, 'right'), [40, 34, 28])
  for (let i = 0; i < mask.data.length; i++)
    mask.data[i] = Math.max(mask.data[i], other.data[i], drawn.person.mask.data[i])
  const view = await createView(drawn.photo, { ...drawn.person, landmarks: apart, mask }, { long: true })
  const { person, analysed } = view
  const body = measureBody(person)
  const jeans = prepareGarment((await readGarment('jeans_blue')).bitmap, { category: 'bottoms' })
  if (jeans.kind !== 'trousers') throw new Error(`seen as ${jeans.kind}`)
  const parts = partsOf(analysed, person)
  const { placement } = fitLower({ long: true, view, person, body, parts, labels: labelsOf(analysed) }, jeans)
  for (const { target } of placement.pieces) {
    const seam = target.map((row) => row[1])
    const steps = seam.slice(12, -4).map((_, k) => bend(seam.slice(k + 11, k + 14)))
    expect(Math.max(...steps)).toBeLessThan(0.12)
  }
})

function spread<P extends Point>(point: P): P {
  return { ...point, x: point.x + (point.x > 240 ? 1 : -1) * (point.y > 600 ? 70 : 35) }
}

function legOf(landmarks: Readonly<Record<string, Point>>, side: 'left' | 'right'): Point[] {
  return ['Hip', 'Knee', 'Ankle'].map((joint) => landmarks[`${side}${joint}`])
}

// The change of direction at the middle of three points, in radians.
function bend([a, b, c]: readonly Point[]): number {
  const turn = Math.atan2(c.y - b.y, c.x - b.x) - Math.atan2(b.y - a.y, b.x - a.x)
  return Math.abs(Math.atan2(Math.sin(turn), Math.cos(turn)))
}
