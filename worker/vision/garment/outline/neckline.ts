import { convexHull } from '../../raster/contour.ts'
import type { Pixels, Point } from '../../raster/plane.ts'
import { resample } from '../../raster/polyline.ts'
import { between, distance, dot, perpendicular, subtract, unit } from '../../raster/vector.ts'
import { nearestIndex } from '../chain.ts'
import { type CollarPatch, collarPatch } from '../garment-patch.ts'
import {
  bestCollarPath,
  type CollarEdges,
  type CollarPath,
  measureCollarEdges,
  RAYS,
  radiusAt,
  rayDirection,
} from './collar-edges.ts'
import { type CollarLabel, findCollarLabel } from './collar-label.ts'

export interface Neckline {
  /** From the left to the right neck corner, 61 points. */
  readonly points: readonly Point[]
  /** False if no edge was found; the curve is then that of a usual crew neck. */
  readonly found: boolean
}

const POINTS = 61
// Min depth over width of the outline's own dip for a front neckline, as in an open cardigan.
const OPEN_DIP = 0.42
// Depth of a crew neck over the distance of the neck corners, and its max over the torso's width: a wide neck is no deeper.
const USUAL_DEPTH = { overCorners: 0.45, overTorso: 0.2 } as const

/**
 * The front neckline: the line between the neck corners that separates the front below from the visible inside of the back
 * above. `image` is premultiplied RGBA, 0 to 255; `corners` are the neck corners and `contour` the closed outline in px of
 * `image`, `torsoWidth` the width below the armpits. On a person (`worn`) the neck hides the inside of the back.
 */
export function findNeckline(
  image: Pixels,
  { contour, torsoWidth, worn }: { contour: readonly Point[]; torsoWidth: number; worn: boolean },
  corners: readonly [Point, Point],
): Neckline {
  const rim = upperRim(contour, corners)
  const width = Math.max(1, distance(...corners))
  const dip = dipOf(rim, corners) / width
  if (dip > OPEN_DIP || worn) return { points: resample(rim, POINTS), found: true }
  const patch = collarPatch(image, corners)
  const edges = measureCollarEdges(patch)
  const label = findCollarLabel(patch)
  const ofCrewNeck = Math.min(USUAL_DEPTH.overCorners, (USUAL_DEPTH.overTorso * torsoWidth) / width)
  const usual = Math.max(ofCrewNeck, dip + NEAR_USUAL)
  const depth = label ? Math.max(usual, label.bottom + BELOW_LABEL) : usual
  const free = findPath(edges, usual)
  const path = !label || (free && isBelow(free, label)) ? free : findUsualPath(edges, depth)
  const radii = path ? smooth(smooth(path.steps.map(radiusAt))) : usualRadii(depth)
  const points = drawPath(patch, radii).map(patch.toImage)
  return { points: resample(withoutDents(points), POINTS), found: path !== null }
}

// Distance of the front's edge below the label inside the back.
const BELOW_LABEL = 0.02

function isBelow({ steps }: CollarPath, { half, bottom }: CollarLabel): boolean {
  return steps.every((step, ray) => {
    const { across, down } = rayDirection(ray)
    const radius = radiusAt(step)
    return across * radius > half || down * radius > bottom
  })
}

// The region above a neckline is convex: a path with a dent follows a label.
function withoutDents(points: readonly Point[]): Point[] {
  return convexHull(points).map((i) => points[i])
}

// The part of the outline between the corners that crosses the axis at the top.
function upperRim(contour: readonly Point[], [left, right]: readonly [Point, Point]): Point[] {
  const from = nearestIndex(contour, left)
  const count = ((nearestIndex(contour, right) - from + contour.length) % contour.length) + 1
  return Array.from({ length: count }, (_, k) => contour[(from + k) % contour.length])
}

function dipOf(rim: readonly Point[], [left, right]: readonly [Point, Point]): number {
  const down = perpendicular(unit(subtract(right, left)))
  return rim.reduce((most, p) => Math.max(most, dot(subtract(p, left), down)), 0)
}

// Below this mean gain an edge can be a fold or the upper end of a print.
const MIN_GAIN = 0.36
// Mean gain of a patterned cloth, where some path always has a high gain.
const BUSY = 0.11

// In cloth with a large print: max mean gain, above which stripes and checks have such paths, min gain alone and over that of a usual
// neckline, and max depth, below which lies the print. By eye on real photos.
const CLEAR = { busyness: 0.17, gain: 0.55, overUsual: 1.3, deepest: 0.6 } as const

function findPath(edges: CollarEdges, usual: number): CollarPath | null {
  if (edges.busyness > CLEAR.busyness) return findUsualPath(edges, usual)
  if (edges.busyness > BUSY) return findClearPath(edges, usual)
  const path = findUpTo(edges, Number.POSITIVE_INFINITY)
  return path && path.gain < MIN_GAIN ? null : path
}

// A path that is much clearer than that of a usual neckline, or the latter.
function findClearPath(edges: CollarEdges, usualDepth: number): CollarPath | null {
  const usual = findUsualPath(edges, usualDepth)
  const free = findUpTo(edges, CLEAR.deepest)
  if (!free || free.gain < CLEAR.gain || free.gain < CLEAR.overUsual * (usual?.gain ?? 0)) return usual
  return free
}

function findUpTo(edges: CollarEdges, deepest: number): CollarPath | null {
  return bestCollarPath(edges, {
    allowed: () => true,
    prior: (depth) => (depth > deepest ? -1e6 : depthPrior(depth)),
  })
}

function depthPrior(depth: number): number {
  return -1.2 * Math.max(0, Math.abs(depth - 0.5) - 0.15)
}

// Max difference of radius from the usual neckline.
const NEAR_USUAL = 0.05

// Among many edges, and among those of a label, only an edge close to the usual neckline is reliable.
function findUsualPath(edges: CollarEdges, depth: number): CollarPath | null {
  const radii = usualRadii(depth)
  const path = bestCollarPath(edges, {
    allowed: (ray, step) => Math.abs(radiusAt(step) - radii[ray]) < NEAR_USUAL,
    prior: () => 0,
  })
  return path && path.gain > MIN_GAIN ? path : null
}

// The curve depth · (1 − |2x|³) as seen from the middle between the corners.
function usualRadii(depth: number): number[] {
  return Array.from({ length: RAYS }, (_, ray) => {
    const { across, down } = rayDirection(ray)
    let inside = 0
    let outside = 1
    for (let k = 0; k < 20; k++) {
      const radius = (inside + outside) / 2
      const fall = depth * (1 - Math.min(1, 2 * radius * across) ** 3)
      if (radius * down < fall) inside = radius
      else outside = radius
    }
    return inside
  })
}

// Cut cloth has even curves: variation from ray to ray is noise of the edge detector.
const SMOOTHINGS = 12

function smooth(radii: readonly number[]): number[] {
  let smoothed = [...radii]
  for (let round = 0; round < SMOOTHINGS; round++) {
    smoothed = smoothed.map((r, i) => {
      const before = smoothed[Math.max(0, i - 1)]
      // Straight down the other half continues the curve. Keep that point, so that a V neck keeps its tip.
      return i === radii.length - 1 ? r : (before + 2 * r + smoothed[i + 1]) / 4
    })
  }
  return smoothed
}

function drawPath({ corners: [left, right], width }: CollarPatch, radii: readonly number[]): Point[] {
  const middle = between(left, right, 0.5)
  const along = unit(subtract(right, left))
  const down = perpendicular(along)
  const place = (ray: number, side: number) => {
    const direction = rayDirection(ray)
    const across = side * direction.across * radii[ray] * width
    const fall = direction.down * radii[ray] * width
    return { x: middle.x + along.x * across + down.x * fall, y: middle.y + along.y * across + down.y * fall }
  }
  const rays = Array.from(radii.keys())
  const half = rays.slice(0, -1)
  return [left, ...rays.map((ray) => place(ray, -1)), ...half.reverse().map((ray) => place(ray, 1)), right]
}
