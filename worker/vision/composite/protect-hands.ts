import { addHand } from '../person/hand-area.ts'
import { type Hand, moveHand } from '../person/person.ts'
import { createPlane, type Plane, type Size, threshold } from '../raster/plane.ts'
import { pointAtSize } from '../raster/vector.ts'
import { revertChange, windowAround } from './revert-change.ts'

// In px of the change: width of the margin beside a hand that stays unchanged if the change is smaller than the photo, because resampling
// mixes neighbouring pixels. The change has no fade-in: the region between the fingers of a hand in front of the body is garment.
const MARGIN = 1
const EDGE = 1
// Min share of hand in a pixel of a hand. Pixels with a smaller share show more of the worn sleeve.
const SHOWN = 0.7

/**
 * Reverts in place the change on hands. `hands` are in px of the `photo`; `change` can have another size.
 */
export function protectHands(change: Plane, hands: readonly Hand[], photo: Size): void {
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
    revertChange(change, threshold(share, SHOWN), { window, margin, edge: EDGE })
  }
}
