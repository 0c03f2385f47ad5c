import type { Point } from '../../raster/plane.ts'
import { distance } from '../../raster/vector.ts'
import { farthestAlong, nearestIndex } from '../chain.ts'
import type { SideLandmarks, SideOutline } from '../garment.ts'
import {
  type ArmpitBay,
  findArmpit,
  type HalfOutline,
  halfOutline,
  hasSleeves,
  higherOpposites,
  torsoWidthOf,
  waistWidthOf,
} from './armpit.ts'
import { findArmhole, findNeckCorners, findSleeve } from './sleeve.ts'
import type { Shape, UprightGarment } from './upright.ts'

interface HalfLandmarks {
  readonly shoulder: number
  readonly armpit: Point
  /** Index from which the outline follows the body, and index of the hem corner. */
  readonly body: number
  readonly hem: number
  readonly sleeve?: { readonly outer: number; readonly inner: number; readonly guessed: boolean }
}

/** The outline of an upper garment on the canvas, and its widths; null if it has no torso. */
export function findUpper({ shape, symmetry, toCanvas }: UprightGarment) {
  const torsoWidth = torsoWidthOf(shape)
  if (torsoWidth === 0) return null
  const onCanvas = (length: number) => distance(toCanvas({ x: 0, y: 0 }), toCanvas({ x: length, y: 0 }))
  const halves = [halfOutline(shape, torsoWidth, -1), halfOutline(shape, torsoWidth, 1)] as const
  const bays = [findArmpit(halves[0], shape.height), findArmpit(halves[1], shape.height)] as const
  const sleeved = hasSleeves(bays)
  const opposites = higherOpposites(halves, bays, { height: shape.height, symmetry: symmetry.score })
  const found = evenArmholes(
    halves,
    [
      findHalf(halves[0], sleeved ? bays[0] : null, { shape, torsoWidth, opposite: opposites[0] }),
      findHalf(halves[1], sleeved ? bays[1] : null, { shape, torsoWidth, opposite: opposites[1] }),
    ],
    { torsoWidth, symmetry: symmetry.score },
  )
  const corners = findNeckCorners(shape, torsoWidth, [
    halves[0].points[found[0].shoulder],
    halves[1].points[found[1].shoulder],
  ])
  const sides = [0, 1].map((k) => describeHalf(halves[k], found[k], { corner: corners[k], toCanvas }))
  return {
    sides: [sides[0].outline, sides[1].outline] as const,
    landmarks: [sides[0].landmarks, sides[1].landmarks] as const,
    sleeved: found[0].sleeve !== undefined && found[1].sleeve !== undefined,
    torsoWidth: onCanvas(torsoWidth),
    waistWidth: onCanvas(waistWidthOf(shape)),
    guessedArmpits: [found[0].sleeve?.guessed ?? false, found[1].sleeve?.guessed ?? false] as const,
  }
}

// Max difference of the armpits' levels over the torso's width, and min symmetry from which both must be level. Chosen by eye on 12
// product photos without sleeves.
const MAX_UNEVEN_ARMPITS = 0.12
const SURE_SYMMETRY = 0.9

// Along a nearly straight side any bend, such as the waist, can be mistaken for the armpit: the lower of two different armpits is such a
// bend.
function evenArmholes(
  halves: readonly [HalfOutline, HalfOutline],
  found: readonly [HalfLandmarks, HalfLandmarks],
  { torsoWidth, symmetry }: { torsoWidth: number; symmetry: number },
): readonly [HalfLandmarks, HalfLandmarks] {
  const [left, right] = found
  if (left.sleeve || right.sleeve || symmetry < SURE_SYMMETRY) return found
  if (Math.abs(left.armpit.y - right.armpit.y) < MAX_UNEVEN_ARMPITS * torsoWidth) return found
  const like = (own: 0 | 1): HalfLandmarks => {
    const { points } = halves[own]
    const model = found[1 - own]
    const armpit = nearestIndex(points, model.armpit)
    const shoulder = nearestIndex(points, halves[1 - own].points[model.shoulder])
    return { ...found[own], shoulder, armpit: points[armpit], body: armpit }
  }
  return left.armpit.y > right.armpit.y ? [like(0), right] : [left, like(1)]
}

function findHalf(
  { points }: HalfOutline,
  bay: ArmpitBay | null,
  scale: { shape: Shape; torsoWidth: number; opposite: Point | null },
): HalfLandmarks {
  const hemAfter = (start: number) => start + farthestAlong(points.slice(start), 0.55, 1)
  if (bay) {
    const { shoulder, armpit, notch, outer, inner, guessed } = findSleeve(points, bay, scale)
    return { shoulder, armpit, body: notch, hem: hemAfter(notch), sleeve: { outer, inner, guessed } }
  }
  const { shoulder, armpit } = findArmhole(points, scale)
  return { shoulder, armpit: points[armpit], body: armpit, hem: hemAfter(armpit) }
}

function describeHalf(
  { points, side }: HalfOutline,
  { shoulder, armpit, body, hem, sleeve }: HalfLandmarks,
  { corner, toCanvas }: { corner: Point; toCanvas: (point: Point) => Point },
): { outline: SideOutline; landmarks: SideLandmarks } {
  const place = ({ x, y }: Point) => toCanvas({ x: x * side, y })
  const chain = (from: number, to: number) => points.slice(from, to + 1).map(place)
  const neck = nearestIndex(points, { x: corner.x * side, y: corner.y })
  // Where the sleeve touches the body a straight seam connects the armpit with the outline.
  const seam = sleeve?.guessed ? [place(armpit)] : []
  const common = {
    shoulder:
      neck < shoulder ? [toCanvas(corner), ...chain(neck + 1, shoulder)] : [toCanvas(corner), place(points[shoulder])],
    side: [...seam, ...chain(body, hem)],
    hem: chain(hem, points.length - 1),
  }
  const landmarks = {
    neck: toCanvas(corner),
    shoulder: place(points[shoulder]),
    armpit: place(armpit),
    hem: place(points[hem]),
  }
  if (!sleeve) return { outline: { ...common, armhole: chain(shoulder, body) }, landmarks }
  const inner = [...seam, ...chain(sleeve.inner, body).reverse()]
  return {
    outline: { ...common, sleeve: { outer: chain(shoulder, sleeve.outer), inner } },
    landmarks: { ...landmarks, sleeveOuter: place(points[sleeve.outer]), sleeveInner: place(points[sleeve.inner]) },
  }
}
