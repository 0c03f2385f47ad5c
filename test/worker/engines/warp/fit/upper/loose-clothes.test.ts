import { describe, expect, it } from 'vitest'
import { refuseLooseClothes } from '../../../../../../worker/engines/warp/fit/upper/loose-clothes.ts'
import { placeGarment } from '../../../../../../worker/engines/warp/fit/upper/place.ts'
import { measureBody } from '../../../../../../worker/vision/body/body-frame.ts'
import { maskWhere } from '../../../../../../worker/vision/raster/mask.ts'
import { maskToPlane, type Point } from '../../../../../../worker/vision/raster/plane.ts'
import { fillCapsules, fillPolygon } from '../../../../../../worker/vision/raster/polygon.ts'
import { between } from '../../../../../../worker/vision/raster/vector.ts'
import { COLOURS, type Colour, drawPerson, partsOf } from '../../../../vision/body/drawn-person.ts'
import { drawGarment } from '../../drawn-garment.ts'

const SHIRT: Colour = [240, 240, 235]

interface Worn {
  /** Radius of the sleeves in px; the shoulders are 120 px apart. */
  radius: number
  /** Whether a shirt is seen between the fronts. */
  open?: boolean
  /** Whether the sleeves end above the elbow. */
  short?: boolean
}

function dress({ radius, open = false, short = false }: Worn, sleeves: 'none' | 'short' | 'long') {
  const { person, photo } = drawPerson()
  const chain = (side: 'left' | 'right') =>
    (['Shoulder', 'Elbow', 'Wrist'] as const).map((joint) => person.landmarks[`${side}${joint}`])
  const sleeve = ([shoulder, elbow, wrist]: Point[]) =>
    short
      ? fillCapsules(photo, [shoulder, between(shoulder, elbow, 0.5)], [radius, radius])
      : fillCapsules(photo, [shoulder, elbow, wrist], [radius, radius, radius])
  const [left, right] = [chain('left'), chain('right')].map(sleeve)
  const front = fillPolygon(photo, [
    { x: 210, y: 180 },
    { x: 270, y: 180 },
    { x: 262, y: 385 },
    { x: 218, y: 385 },
  ])
  const data = photo.data.slice()
  for (let i = 0; i < left.data.length; i++) {
    if (left.data[i] || right.data[i]) data.set(COLOURS.top, 3 * i)
    if (open && front.data[i]) data.set(SHIRT, 3 * i)
  }
  const clothed = maskWhere(photo, (i) => person.mask.data[i] > 0.5 || left.data[i] + right.data[i] > 0)
  const dressed = { ...person, mask: maskToPlane(clothed) }
  const body = measureBody(dressed)
  const parts = partsOf({ ...photo, data }, dressed)
  const garment = drawGarment({ sleeves })
  const placement = placeGarment({ person: dressed, body, parts, garment })
  return () => refuseLooseClothes({ body, parts, ...placement })
}

describe('baring arms', () => {
  it('rejects a padded jacket', () => {
    expect(dress({ radius: 32 }, 'short')).toThrowError(expect.objectContaining({ code: 'RESULT_REJECTED' }))
  })

  it('rejects an open jacket over a shirt', () => {
    expect(dress({ radius: 21, open: true }, 'none')).toThrowError(/stand off the arms/)
  })

  it('accepts a loose pullover', () => {
    expect(dress({ radius: 21 }, 'none')).not.toThrow()
  })

  it('accepts wide short sleeves, because bare forearms show the arm width', () => {
    expect(dress({ radius: 34, short: true }, 'short')).not.toThrow()
  })

  it('accepts a padded jacket under equally long sleeves', () => {
    expect(dress({ radius: 32 }, 'long')).not.toThrow()
  })
})
