import type { BodyFrame } from '../../../../vision/body/body-frame.ts'
import { bothSides } from '../../../../vision/body/keypoints.ts'
import { componentsTouching, connectedComponents } from '../../../../vision/raster/components.ts'
import { distanceTo } from '../../../../vision/raster/distance.ts'
import { dilate, open } from '../../../../vision/raster/morphology.ts'
import { createMask, type Mask, maskWhere, type Plane, subset } from '../../../../vision/raster/plane.ts'
import { fillPolygon } from '../../../../vision/raster/polygon.ts'
import { move } from '../../../../vision/raster/vector.ts'
import type { FittingRegions } from '../../fit/upper/fitting.ts'
import { SOLID } from '../../warp/flat-garment.ts'
import type { FlatGarment } from '../../warp/layers.ts'
import { BACKGROUND, GARMENT, SKIN } from '../removal.ts'
import { EDGE_EXTENSION, LUMP_SIZE } from '../tuning.ts'

/**
 * A thin strip becomes garment if the new garment could as well extend that far: a drawn edge in the old garment's place looks like
 * a worn edge, unlike invented skin or background. Hem, cuffs and neckline stay where the product has them.
 */
export function extendGarmentToWornEdge(
  zones: Uint8Array,
  { body, parts, placement, regions }: FittingRegions,
  { garment, undressed }: { garment: FlatGarment; undressed: Mask },
): void {
  const { torso, sleeves, cover } = garment
  const isOpen = (i: number) => (zones[i] === BACKGROUND || zones[i] === SKIN) && cover.data[i] < SOLID
  const solid = (plane: Plane) => distanceTo(maskWhere(plane, (i) => plane.data[i] >= SOLID))
  const [toTorso, toSleeve] = [solid(torso), solid(sleeves)]
  const toEdge = distanceTo(maskWhere(cover, (i) => !isOpen(i) && cover.data[i] < SOLID))
  // Where the old garment diverges from the new one, the strip ends in a slope instead of a step.
  const isNear = (far: Plane, i: number, reach: number) => {
    const max = reach * body.unit
    return far.data[i] <= Math.min(max, 2 * max - far.data[i] - toEdge.data[i])
  }
  const neck = [...placement.neckline.map((point) => move(point, body.down, -0.01 * body.unit))]
  const up = -0.4 * body.unit
  const opening = fillPolygon(torso, [
    ...neck,
    move(placement.neckCorners[1], body.down, up),
    move(placement.neckCorners[0], body.down, up),
  ])
  // On an arm a garment ends at the end of its sleeve.
  const ends = bothSides((side) => placement.sleeves.find((sleeve) => sleeve.side === side)?.length ?? 0)
  const isUnderSleeve = (i: number) =>
    regions.arms.some((arm, side) => arm.along.data[i] < ends[side] - 0.1 * body.unit)
  const hug = createMask(cover)
  for (let i = 0; i < zones.length; i++) {
    if (!isOpen(i) || undressed.data[i]) continue
    if (parts.along.data[i] > placement.hem - 0.02) continue
    if (regions.limbs.data[i] && !isUnderSleeve(i)) continue
    const atTorso = isNear(toTorso, i, opening.data[i] ? EDGE_EXTENSION.neck : EDGE_EXTENSION.torso)
    if (atTorso || (isNear(toSleeve, i, EDGE_EXTENSION.sleeve) && !regions.beyondCuffs.data[i])) hug.data[i] = 1
  }
  // A tongue beside the garment, such as the remainder of the fork under an old sleeve, is not part of its edge.
  const broad = open(
    maskWhere(cover, (i) => hug.data[i] === 1 || cover.data[i] >= SOLID),
    EDGE_EXTENSION.tongue * body.unit,
  )
  for (let i = 0; i < zones.length; i++) if (!broad.data[i]) hug.data[i] = 0
  // Regions that an arm separates from the garment do not belong to it.
  const seen = dilate(
    maskWhere(cover, (i) => cover.data[i] >= SOLID && !(regions.uncovered.data[i] && parts.skin.data[i])),
    2,
  )
  const joined = withoutLumps(componentsTouching(hug, seen), (i) => Math.min(toTorso.data[i], toSleeve.data[i]), body)
  for (let i = 0; i < zones.length; i++) if (joined.data[i]) zones[i] = GARMENT
}

// A seam that is slightly further out stays so for some length; a short and thick strip is the root of an old sleeve.
function withoutLumps(hug: Mask, farOf: (i: number) => number, { unit }: BodyFrame): Mask {
  const { labels, components } = connectedComponents(hug)
  const thickness = new Float32Array(components.length + 1)
  for (let i = 0; i < labels.length; i++)
    if (hug.data[i]) thickness[labels[i]] = Math.max(thickness[labels[i]], farOf(i))
  const isLump = components.map(({ label, area }) => {
    const thick = thickness[label]
    return thick > LUMP_SIZE.thick * unit && area < LUMP_SIZE.length * thick ** 2
  })
  return subset(hug, (i) => !isLump[labels[i] - 1])
}
