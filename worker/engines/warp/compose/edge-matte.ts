import { drawHands } from '../../../vision/person/hand-area.ts'
import type { Person } from '../../../vision/person/person.ts'
import { fillSmoothly } from '../../../vision/raster/fill.ts'
import { threshold } from '../../../vision/raster/mask.ts'
import { dilate, erode } from '../../../vision/raster/morphology.ts'
import { type Colours, createPlane, type Mask, type Plane } from '../../../vision/raster/plane.ts'
import { reduceMasked } from '../../../vision/raster/reduce.ts'
import type { WornGarment } from '../remove/removal.ts'
import { EDGE_SOFTNESS, MATTE, MIXING_REACH } from './tuning.ts'

/**
 * Sharpens the soft edge `share` (0 to 1) of a hand or hair in front of the worn garment: reduces the share of a pixel by
 * the share of old cloth in its colour. `own` are the certain pixels of the hand or hair, `lab` the bitmap in CIE Lab,
 * `reach` the width of the mixed edge in px.
 */
export function refineEdge(
  share: Plane,
  { own, worn, lab, reach }: { own: Mask; worn: Pick<WornGarment, 'cloth' | 'mask'>; lab: Colours; reach: number },
): Plane {
  const { factor, cells: cloth } = worn.cloth
  const known = reduceMasked(lab, erode(own, MATTE.inside), factor)
  const thing = fillSmoothly(known.colours, known.weight)
  const band = dilate(worn.mask, reach)
  const out = createPlane(share)
  for (let i = 0; i < out.data.length; i++) {
    out.data[i] = share.data[i]
    if (share.data[i] === 0 || !band.data[i]) continue
    const row = Math.floor(Math.floor(i / share.width) / factor)
    const cell = (row * cloth.width + Math.floor((i % share.width) / factor)) * 3
    const purity = mixing(lab.data, i * 3, { from: cloth.data, to: thing.data, cell })
    out.data[i] *= Math.min(1, Math.max(0, (purity - MATTE.from) / MATTE.over))
  }
  return out
}

// Position of a colour between two others: 0 at `from`, 1 at `to`.
function mixing(
  colours: Float32Array,
  at: number,
  { from, to, cell }: { from: Float32Array; to: Float32Array; cell: number },
): number {
  let along = 0
  let length = 0
  for (let c = 0; c < 3; c++) {
    const step = to[cell + c] - from[cell + c]
    along += (colours[at + c] - from[cell + c]) * step
    length += step * step
  }
  return length < MATTE.difference * MATTE.difference ? 1 : along / length
}

/** Sigma in px of the soft edge of objects in front of the garment. */
export function edgeSoftness(unit: number): number {
  return Math.max(EDGE_SOFTNESS.min, EDGE_SOFTNESS.share * unit)
}

// From this share a pixel is completely hand: a hand's own shade is not the cloth's.
const SURE_HAND = 0.9

/** Brings the visible hands completely to the front, in place. `front` is the share of objects in front of the garment, 0 to 1. */
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
  const edge = refineEdge(share, { own: threshold(share, SURE_HAND), worn, lab, reach: MIXING_REACH.limb * unit })
  for (let i = 0; i < front.data.length; i++) {
    const own = share.data[i] > SURE_HAND ? 1 : edge.data[i]
    if (own > front.data[i]) front.data[i] = own
  }
}
