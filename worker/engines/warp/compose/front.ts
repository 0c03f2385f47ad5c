import { drawHands } from '../../../vision/person/hand-area.ts'
import type { Person } from '../../../vision/person/person.ts'
import type { Plane } from '../../../vision/raster/plane.ts'
import { EDGE_SOFTNESS } from './tuning.ts'

/** Sigma in px of the soft edge of objects in front of the garment. */
export function edgeSoftness(unit: number): number {
  return Math.max(EDGE_SOFTNESS.min, EDGE_SOFTNESS.share * unit)
}

/** Brings the visible hands completely to the front, in place. `front` is the share of objects in front of the garment, 0 to 1. */
export function bringHandsToFront(front: Plane, { hands }: Person): void {
  const share = drawHands(front, hands)
  for (let i = 0; i < front.data.length; i++) front.data[i] = Math.max(front.data[i], share.data[i])
}
