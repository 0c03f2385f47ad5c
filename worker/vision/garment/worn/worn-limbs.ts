import type { ArmProfile } from '../../body/arm-profile.ts'
import { type BodyFrame, halfWidthAt } from '../../body/body-frame.ts'
import type { Sides } from '../../body/keypoints.ts'
import { without } from '../../raster/mask.ts'
import type { Mask, Point } from '../../raster/plane.ts'
import { fillCapsules } from '../../raster/polygon.ts'
import { between, dot, move, subtract, unit } from '../../raster/vector.ts'
import { GARMENT, HIDDEN, rejected } from './worn-choice.ts'

interface Limbs {
  readonly body: BodyFrame
  readonly arms: Sides<ArmProfile>
}

// Min count of samples of an arm in front of the trunk, within a share of its half width; and min drop of an arm that is not raised, over its
// length.
const CROSSING = { from: 12, count: 4, within: 0.75 } as const
const RAISED = 0.3
// Sample up to which a short sleeve reaches.
const SHORT = 8

/** @throws DrapeError RESULT_REJECTED if an arm in a long sleeve is raised or in front of the trunk */
export function assertUsableSleeves({ body, arms }: Limbs, seen: Mask): void {
  for (const side of [0, 1] as const) {
    const { points, along } = arms[side]
    const sleeve = points.map((point) => valueAt(seen, point)).lastIndexOf(GARMENT)
    const crossing = points.slice(CROSSING.from, sleeve + 1).filter((point) => {
      const offset = subtract(point, body.shoulders)
      const F = dot(offset, body.down) / body.trunk
      return F < 1 && Math.abs(dot(offset, body.right)) < CROSSING.within * halfWidthAt(body, Math.max(F, 0.1), side)
    })
    const middle = points.length >> 1
    const isRaised = dot(subtract(points[middle], points[0]), body.down) < RAISED * along[middle]
    if (crossing.length >= CROSSING.count || (isRaised && sleeve > SHORT)) throw rejected(HIDDEN)
  }
}

// Width of a slit in body units, its start in upper arms from the shoulder or in body units below the hips, and the max length of a cuff
// beyond the wrist.
const SLIT = { width: 0.024, armpit: 0.45, crotch: 0.3, cuff: 0.3 } as const

/** Opens a slit between each hanging sleeve and the trunk, and behind its cuff, so that the outline has armpits. */
export function cutSleeves(garment: Mask, seen: Mask, { body, arms }: Limbs): Mask {
  const slits = arms.flatMap(({ along, upperLength, points, normals, inner, outer }) => {
    const end = sleeveEnd(points, seen)
    const from = along.findIndex((way) => way > SLIT.armpit * upperLength)
    if (end <= from) return []
    const edge = points.map((p, i) => move(p, normals[i], -inner[i])).slice(from, end + 1)
    const cuff = endOfCuff([points[end - 3], points[end]], seen, SLIT.cuff * body.unit)
    return [[...edge, move(cuff, normals[end], -inner[end]), move(cuff, normals[end], 2 * outer[end])]]
  })
  return cutLines(garment, slits, body.unit)
}

/** Opens a slit between the legs, so that the outline has a crotch. */
export function cutLegs(garment: Mask, { joints, unit, hips, down }: BodyFrame): Mask {
  const chain = [move(hips, down, SLIT.crotch * unit), between(...joints.knee, 0.5), between(...joints.ankle, 0.5)]
  return cutLines(garment, [chain], unit)
}

function cutLines(garment: Mask, chains: readonly (readonly Point[])[], unit: number): Mask {
  const radius = Math.max(1.5, (SLIT.width / 2) * unit)
  return without(
    garment,
    ...chains.map((chain) =>
      fillCapsules(
        garment,
        chain,
        chain.map(() => radius),
      ),
    ),
  )
}

// Index of the last sample on a sleeve.
function sleeveEnd(points: readonly Point[], seen: Mask): number {
  let end = 0
  for (const [i, point] of points.entries()) {
    if (valueAt(seen, point) === GARMENT) end = i
    else if (i > end + 4) return end
  }
  return end
}

function endOfCuff([before, wrist]: readonly [Point, Point], seen: Mask, reach: number): Point {
  const along = unit(subtract(wrist, before))
  let way = 0
  while (way < reach && valueAt(seen, move(wrist, along, way)) === GARMENT) way++
  return way < reach ? move(wrist, along, way) : wrist
}

function valueAt({ width, height, data }: Mask, { x, y }: Point): number {
  const [column, row] = [Math.round(x), Math.round(y)]
  return column < 0 || row < 0 || column >= width || row >= height ? 0 : data[row * width + column]
}
