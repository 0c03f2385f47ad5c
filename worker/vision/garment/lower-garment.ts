import type { Point } from '../raster/plane.ts'
import { nearestIndex } from './chain.ts'
import type { LowerGarment } from './garment.ts'
import type { SkirtOutline, TrousersOutline } from './outline/outline.ts'

/** Describes trousers or a skirt as chains of points. `image` is the garment drawn upright on the outline's canvas. */
export function describeLower(outline: TrousersOutline | SkirtOutline, image: LowerGarment['image']): LowerGarment {
  const { contour, symmetry, angle } = outline
  const { waist } = outline.landmarks
  const chain = (from: Point, to: Point) => chainBetween(contour, from, to)
  const common = { image, axis: outline.canvas.axis, waist: chain(waist[0], waist[1]), symmetry, angle }
  if (outline.kind === 'skirt') {
    const { hem } = outline.landmarks
    return {
      ...common,
      kind: 'skirt',
      sides: [chain(hem[0], waist[0]).reverse(), chain(waist[1], hem[1])],
      hem: chain(hem[1], hem[0]).reverse(),
    }
  }
  const { ankleOuter, ankleInner, crotch } = outline.landmarks
  return {
    ...common,
    kind: 'trousers',
    sides: [chain(ankleOuter[0], waist[0]).reverse(), chain(waist[1], ankleOuter[1])],
    crotch,
    inseams: [chain(crotch, ankleInner[0]), chain(ankleInner[1], crotch).reverse()],
    hems: [chain(ankleInner[0], ankleOuter[0]).reverse(), chain(ankleOuter[1], ankleInner[1])],
  }
}

// The outline runs clockwise on the screen: from the left corner of the waist over the right corner down the right leg.
function chainBetween(contour: readonly Point[], from: Point, to: Point): Point[] {
  const first = nearestIndex(contour, from)
  const last = nearestIndex(contour, to)
  if (first <= last) return contour.slice(first, last + 1)
  return [...contour.slice(first), ...contour.slice(0, last + 1)]
}
