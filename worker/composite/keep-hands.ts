import { addHand } from '../person/hand-area.ts'
import { type Hand, moveHand } from '../person/person.ts'
import { createPlane, type Plane, type Size, threshold } from '../raster/plane.ts'
import { pointAtSize } from '../raster/vector.ts'
import { takeBack, windowAround } from './take-back.ts'

// In px of the change: so far beside a hand nothing is changed either where the change is smaller than the photo, because there a pixel of
// the photo is mixed from those around it. It sets in at once: what lies between the fingers of a hand before the body is garment.
const MARGIN = 1
const EDGE = 1
// From this share on a pixel shows the hand; in others more of the worn sleeve is seen.
const SHOWN = 0.7

/**
 * Takes back what was changed on hands, in place: no garment covers them. `hands` are in px of the `photo`; `change` may have another size
 * than it.
 */
export function keepHands(change: Plane, hands: readonly Hand[], photo: Size): void {
  const scale = { x: change.width / photo.width, y: change.height / photo.height }
  const margin = scale.x < 1 ? MARGIN : 0
  for (const hand of hands) {
    const atSize = moveHand(hand, (point) => pointAtSize(point, scale))
    const window = windowAround([atSize.first, atSize.last], margin + EDGE, change)
    if (window.width === 0 || window.height === 0) continue
    const share = createPlane(window)
    addHand(
      share,
      moveHand(atSize, ({ x, y }) => ({ x: x - window.x, y: y - window.y })),
    )
    takeBack(change, threshold(share, SHOWN), { window, margin, edge: EDGE })
  }
}
