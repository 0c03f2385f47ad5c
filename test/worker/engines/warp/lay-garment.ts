import type { FittingRegions } from '../../../../worker/engines/warp/fit/upper/fitting.ts'
import { placeGarment } from '../../../../worker/engines/warp/fit/upper/place.ts'
import { findRegions } from '../../../../worker/engines/warp/fit/upper/regions.ts'
import { flattenLayers } from '../../../../worker/engines/warp/warp/flat-garment.ts'
import type { FlatGarment, UpperLayers } from '../../../../worker/engines/warp/warp/layers.ts'
import { warpUpper } from '../../../../worker/engines/warp/warp/upper.ts'
import { measureBody } from '../../../../worker/vision/body/body-frame.ts'
import type { Parts } from '../../../../worker/vision/body/parts.ts'
import type { UpperGarment } from '../../../../worker/vision/garment/garment.ts'
import type { Person } from '../../../../worker/vision/person/person.ts'
import type { Bitmap } from '../../../../worker/vision/raster/plane.ts'
import { fillCapsules } from '../../../../worker/vision/raster/polygon.ts'
import { ARM_RADIUS, type Colour, type DrawnPerson, partsOf } from '../../vision/body/drawn-person.ts'

export interface Fitted {
  readonly fitting: FittingRegions
  readonly layers: UpperLayers
  readonly flat: FlatGarment
}

type Seen = Pick<FittingRegions, 'person' | 'body' | 'parts'>

const seen = new WeakMap<Bitmap, Seen>()

/** The measurements of a drawn person, made once for each photo. */
export function lookAt(person: Person, photo: Bitmap): Seen {
  const known = seen.get(photo)
  if (known?.person === person) return known
  const body = measureBody(person)
  const measured = { person, body, parts: partsOf(photo, person) }
  seen.set(photo, measured)
  return measured
}

/** A garment fitted to a person, with all intermediate results; `parts` are needed unless the person is drawn. */
export function layGarment(person: Person, photo: Bitmap, garment: UpperGarment, seen?: Parts): Fitted {
  const { body, parts } = seen ? { body: measureBody(person), parts: seen } : lookAt(person, photo)
  const placement = placeGarment({ person, body, parts, garment })
  const regions = findRegions({ person, body, parts, placement })
  const layers = warpUpper(garment, placement, { size: photo, scale: 1 })
  return { fitting: { person, body, parts, placement, regions }, layers, flat: flattenLayers(layers, photo) }
}

/**
 * The drawn figure's photo with sleeves of `colour` painted over its arms, from the shoulders to just before the wrists, or `overHand` px
 * past them.
 */
export function paintSleeves({ person, photo }: DrawnPerson, colour: Colour, overHand?: number): Bitmap {
  const data = photo.data.slice()
  const { landmarks } = person
  for (const side of ['left', 'right'] as const) {
    const [shoulder, elbow, wrist] = [
      landmarks[`${side}Shoulder`],
      landmarks[`${side}Elbow`],
      landmarks[`${side}Wrist`],
    ]
    const cuff = { x: wrist.x - 0.1 * (wrist.x - elbow.x), y: wrist.y - 0.1 * (wrist.y - elbow.y) }
    const radii = [ARM_RADIUS, ARM_RADIUS, 0.7 * ARM_RADIUS]
    const sleeve = fillCapsules(photo, [shoulder, elbow, cuff], radii)
    for (let i = 0; i < sleeve.data.length; i++) {
      if (person.mask.data[i] <= 0.5) continue
      const [x, y] = [i % photo.width, Math.floor(i / photo.width)]
      const isOnHand =
        overHand !== undefined && Math.hypot(x - wrist.x, y - wrist.y) < 40 && y > wrist.y - 8 && y < wrist.y + overHand
      if (sleeve.data[i] || isOnHand) data.set(colour, i * 3)
    }
  }
  return { ...photo, data }
}
