import { expect, it } from 'vitest'
import { maskWhere } from '../../../../../../worker/vision/raster/mask.ts'
import { ARMS_AWAY, COLOURS, type Colour, drawPerson } from '../../../../vision/body/drawn-person.ts'
import { drawGarment } from '../../drawn-garment.ts'
import { layGarment } from '../../lay-garment.ts'

// A person in dark and light stripes whose head leaves the photo above the eyes, with something of `colour` beside the neck, from `top`
// to the shoulders.
function besideNeck(colour: Colour, top: number) {
  const { person, photo, drawn } = drawPerson(ARMS_AWAY, { top: [190, 190, 200] })
  const mask = { ...person.mask, data: person.mask.data.slice() }
  const data = photo.data.slice()
  const beside = maskWhere(photo, (i) => {
    const [x, y] = [Math.abs((i % photo.width) - 240), Math.floor(i / photo.width)]
    return x > 21 && x < 40 && y > top && y < 184
  })
  for (let i = 0; i < mask.data.length; i++) {
    if (i < photo.width * 100) mask.data[i] = 0
    if (drawn.top.data[i] && i % 10 < 5) data.set([40, 28, 26], i * 3)
    if (beside.data[i]) mask.data[i] = 1
    if (beside.data[i]) data.set(colour, i * 3)
    if (i < photo.width * 100) data.set(COLOURS.background, i * 3)
  }
  const { regions } = layGarment({ ...person, mask }, { ...photo, data }, drawGarment()).fitting
  const inside = [...beside.data.keys()].filter((i) => beside.data[i] && Math.floor(i / photo.width) > 160)
  return inside.filter((i) => regions.hair.data[i]).length / inside.length
}

it('a collar beside the neck is no hair, also when the top of the head is outside the photo', () => {
  expect(besideNeck([230, 230, 225], 158)).toBe(0)
})
