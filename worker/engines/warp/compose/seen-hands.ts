import { drawHands } from '../../../person/hand-area.ts'
import type { Person } from '../../../person/person.ts'
import { type Colours, type Plane, threshold } from '../../../raster/plane.ts'
import type { WornGarment } from '../remove/removal.ts'
import { refineEdge } from './edge-matte.ts'
import { MIXING_REACH } from './tuning.ts'

// From this share on a pixel is all hand: its own shade is not the cloth's.
const SURE = 0.9

/** Brings the hands that are seen to the front, in place and whole: `front` is what lies before the garment, 0 to 1. */
export function bringHandsToFront(
  front: Plane,
  {
    person: { hands },
    worn,
    lab,
    unit,
  }: { person: Person; worn: Pick<WornGarment, 'cloth' | 'mask'>; lab: Colours; unit: number },
): void {
  if (hands.length === 0) return
  const share = drawHands(front, hands)
  const edge = refineEdge(share, { own: threshold(share, SURE), worn, lab, reach: MIXING_REACH.limb * unit })
  for (let i = 0; i < front.data.length; i++) {
    const own = share.data[i] > SURE ? 1 : edge.data[i]
    if (own > front.data[i]) front.data[i] = own
  }
}
