import { addHand } from '../person/hand-area.ts'
import { type Hand, moveHand, type Person } from '../person/person.ts'
import { windowAround } from '../raster/crop.ts'
import { threshold } from '../raster/mask.ts'
import { createPlane, type Plane, type Point, type Size } from '../raster/plane.ts'
import { fillPolygon } from '../raster/polygon.ts'
import { pointAtSize } from '../raster/vector.ts'
import { revertChange } from './revert-change.ts'

/** Reverts in place the change on the person's face and hands, for any engine. */
export function protectBody(change: Plane, { face, hands }: Pick<Person, 'face' | 'hands'>, photo: Size): void {
  if (face) protectFace(change, face, photo)
  protectHands(change, hands, photo)
}

// In px of the change: width of the margin outside the outline that stays unchanged, because resampling mixes neighbouring
// pixels, and width over which the change fades in.
const MARGIN = 2
const EDGE = 3

/**
 * Reverts in place the change inside the outline of a face. `face` is in px of the `photo`; `change` can have another size. Inside the
 * outline the change is exactly 0, also after an upscale to the photo's size.
 */
export function protectFace(change: Plane, face: readonly Point[], photo: Size): void {
  const scale = { x: change.width / photo.width, y: change.height / photo.height }
  const outline = face.map((point) => pointAtSize(point, scale))
  const window = windowAround(outline, MARGIN + EDGE + 1, change)
  if (window.width === 0 || window.height === 0) return
  const moved = outline.map(({ x, y }) => ({ x: x - window.x, y: y - window.y }))
  revertChange(change, fillPolygon(window, moved), { window, margin: MARGIN, edge: EDGE })
}

// In px of the change: width of the margin beside a hand that stays unchanged if the change is smaller than the photo, because resampling
// mixes neighbouring pixels. The change has no fade-in: the region between the fingers of a hand in front of the body is garment.
const HAND_MARGIN = 1
const HAND_EDGE = 1
// Min share of hand in a pixel of a hand. Pixels with a smaller share show more of the worn sleeve.
const SHOWN = 0.7

/**
 * Reverts in place the change on hands. `hands` are in px of the `photo`; `change` can have another size.
 */
export function protectHands(change: Plane, hands: readonly Hand[], photo: Size): void {
  const scale = { x: change.width / photo.width, y: change.height / photo.height }
  const margin = scale.x < 1 ? HAND_MARGIN : 0
  for (const hand of hands) {
    const atSize = moveHand(hand, (point) => pointAtSize(point, scale))
    const window = windowAround([atSize.first, atSize.last], margin + HAND_EDGE + 1, change)
    if (window.width === 0 || window.height === 0) continue
    const share = createPlane(window)
    addHand(
      share,
      moveHand(atSize, ({ x, y }) => ({ x: x - window.x, y: y - window.y })),
    )
    revertChange(change, threshold(share, SHOWN), { window, margin, edge: HAND_EDGE })
  }
}
