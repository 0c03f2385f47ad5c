import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { convexHull, findBays } from '../raster/contour.ts'
import type { Point } from '../raster/plane.ts'
import type { GarmentKind } from './garment.ts'
import type { Shape } from './upright.ts'

// Min area of a second garment as a share of the largest piece: smaller pieces are belts or shadows.
const SECOND_GARMENT = 0.3
// Max share of its convex hull that a garment's outline fills: neck, armholes and sleeves leave bays; a ball or a cushion has none.
const MAX_SOLID = 0.975
// Max share of its bounds that an outline fills: skirts have a waist; a bottle, a poster or an image frame has none.
const MAX_RECTANGULAR = 0.965

/**
 * Rejects outlines that no garment has. `pieces` are the areas of the pieces of the cutout. `expected`: the product's text names a
 * garment of this kind, so a plain straight skirt or tube top is accepted.
 * @throws DrapeError RESULT_REJECTED.
 */
export function refuseImplausible(
  shape: Shape,
  { kind, pieces, expected }: { kind: GarmentKind; pieces: readonly number[]; expected: boolean },
): void {
  const [largest, second = 0] = pieces.toSorted((a, b) => b - a)
  if (second > SECOND_GARMENT * largest) throw rejected('The product photo shows more than one garment.')
  const area = areaOf(shape.contour)
  if (kind === 'skirt') {
    if (!expected && area > MAX_RECTANGULAR * shape.width * shape.height) throw rejected(NO_GARMENT)
    return
  }
  if (kind === 'trousers') {
    if (hasSleeves(shape))
      throw rejected('The product photo shows more than one garment or an unsupported kind of garment.')
    return
  }
  if (!expected && area > MAX_SOLID * areaOf(convexHull(shape.contour).map((i) => shape.contour[i])))
    throw rejected(NO_GARMENT)
  if (isUpsideDown(shape)) throw rejected('The garment is upside down in the product photo.')
}

const NO_GARMENT = 'The outline in the product photo is not the outline of a garment laid out flat.'

// Trouser legs have no armpits. Two overlapping tops, or a jumpsuit, otherwise resemble a pair of trousers.
function hasSleeves({ contour, top, height, width }: Shape): boolean {
  const bays = findBays(contour).filter(
    ({ deepest, depth }) => depth > 0.05 * Math.max(height, width) && contour[deepest].y < top + 0.6 * height,
  )
  return [-1, 1].every((side) => bays.some(({ deepest }) => side * contour[deepest].x > 0.25 * width))
}

// Upside down, the bays between body and sleeves are low, and the corners of the hem are at the top.
function isUpsideDown({ contour, top, height }: Shape): boolean {
  const share = ({ y }: Point) => (y - top) / height
  const bays = findBays(contour).filter(({ from, to, deepest, depth }) => {
    if (depth < 0.08 * height || share(contour[deepest]) < 0.55) return false
    const [a, b] = [contour[from], contour[to]]
    return share(Math.abs(a.x) < Math.abs(b.x) ? a : b) < 0.35
  })
  return [-1, 1].every((side) => bays.some(({ deepest }) => side * contour[deepest].x > 0))
}

function areaOf(polygon: readonly Point[]): number {
  const double = polygon.reduce((sum, p, i) => {
    const next = polygon[(i + 1) % polygon.length]
    return sum + p.x * next.y - next.x * p.y
  }, 0)
  return Math.abs(double) / 2
}

function rejected(message: string): DrapeError {
  return new DrapeError('RESULT_REJECTED', message)
}
