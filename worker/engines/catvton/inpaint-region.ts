import { type BodyFrame, measureBody } from '../../body/body-frame.ts'
import { findHead } from '../../body/head.ts'
import { bothSides } from '../../body/keypoints.ts'
import { findParts, type Parts } from '../../body/parts.ts'
import type { Person } from '../../person/person.ts'
import { fillHoles } from '../../raster/components.ts'
import { dilate } from '../../raster/morphology.ts'
import { type Bitmap, type Mask, maskWhere, type Point } from '../../raster/plane.ts'
import { fillCapsules, fillPolygon } from '../../raster/polygon.ts'
import { move } from '../../raster/vector.ts'
import type { TrainedCategory } from '../diffusion/category.ts'

const COVERED: Readonly<Record<TrainedCategory, { upper: boolean; lower: boolean }>> = {
  tops: { upper: true, lower: false },
  bottoms: { upper: false, lower: true },
  'one-pieces': { upper: true, lower: true },
}
// Lengths in body units.
/** Distance by which a loose garment extends beyond the worn garment and the limbs. */
const LOOSE = 0.12
const LEG_RADIUS = 0.3
/** Multiples of the arm radius. */
const SLEEVE = 1.5
const HAND = 1.5
const FOOT = 0.14
/** Margin between image and mask that hides the edge of the worn garment. */
const RIM = 1 / 250

/**
 * Region that the model draws for a garment of the category: the worn garment, the limbs and the trunk that the new garment can
 * cover, and a margin, without face, hair, hands, feet and the garment on the other half of the body. Has the size of the bitmap.
 *
 * Throws as `measureBody` does.
 */
export function findInpaintRegion(bitmap: Bitmap, person: Person, category: TrainedCategory): Mask {
  const body = measureBody(person)
  const parts = findParts(bitmap, person, body)
  const { upper, lower } = COVERED[category]
  const worn = union([upper && parts.top, lower && parts.lower], bitmap)
  const bare = union([upper && upperBody(bitmap, body), lower && legs(bitmap, body)], bitmap)
  const near = fillHoles(dilate(union([worn, bare], bitmap), LOOSE * body.unit))
  const other = otherGarment(parts, body, { upper, lower })
  const always = union(
    [findHead(person, body), parts.hair, hands(bitmap, body, parts), feet(bitmap, person, body)],
    bitmap,
  )
  const region = maskWhere(
    bitmap,
    (i) => !always.data[i] && (worn.data[i] === 1 || (near.data[i] === 1 && !other.data[i])),
  )
  const grown = dilate(region, RIM * Math.max(bitmap.width, bitmap.height))
  return maskWhere(bitmap, (i) => grown.data[i] === 1 && !always.data[i])
}

function union(masks: readonly (Mask | false)[], { width, height }: { width: number; height: number }): Mask {
  const out = new Uint8Array(width * height)
  for (const mask of masks) if (mask) for (let i = 0; i < out.length; i++) out[i] |= mask.data[i]
  return { width, height, data: out }
}

function upperBody(size: Bitmap, { joints, shoulderTip, armRadius }: BodyFrame): Mask {
  const trunk = fillPolygon(size, [shoulderTip[0], shoulderTip[1], joints.hip[1], joints.hip[0]])
  const arms = bothSides((side) => {
    const radius = SLEEVE * armRadius[side]
    return fillCapsules(size, [joints.shoulder[side], joints.elbow[side], joints.wrist[side]], [radius, radius, radius])
  })
  return union([trunk, ...arms], size)
}

/** Legs and the region between them, which a skirt covers. */
function legs(size: Bitmap, { joints: { hip, knee, ankle }, unit }: BodyFrame): Mask {
  const radius = LEG_RADIUS * unit
  const each = bothSides((side) =>
    fillCapsules(size, [hip[side], knee[side], ankle[side]], [radius, radius, 0.7 * radius]),
  )
  return union([...each, fillPolygon(size, [hip[0], knee[0], ankle[0], ankle[1], knee[1], hip[1]])], size)
}

/** The garment of the other half of the body; for trousers and skirts also the arms that hang in front of them. */
function otherGarment(parts: Parts, body: BodyFrame, { upper, lower }: { upper: boolean; lower: boolean }): Mask {
  if (upper && lower) return union([], parts.skin)
  if (upper) return maskWhere(parts.skin, (i) => parts.lower.data[i] === 1 && parts.along.data[i] > 0.8)
  const { joints, armRadius } = body
  const arms = bothSides((side) =>
    fillCapsules(
      parts.skin,
      [joints.shoulder[side], joints.elbow[side], joints.wrist[side]],
      [SLEEVE, SLEEVE, SLEEVE].map((share) => share * armRadius[side]),
    ),
  )
  return maskWhere(
    parts.skin,
    (i) => parts.top.data[i] === 1 || (parts.skin.data[i] === 1 && arms.some(({ data }) => data[i] === 1)),
  )
}

/** Bare hands only: a hand under a sleeve is drawn anew with the sleeve. */
function hands(size: Bitmap, { joints, armRadius }: BodyFrame, { skin }: Parts): Mask {
  const near = bothSides((side) => {
    const [wrist, knuckles] = [joints.wrist[side], joints.knuckles[side]]
    const fingers: Point = move(wrist, { x: knuckles.x - wrist.x, y: knuckles.y - wrist.y }, 2)
    const radius = HAND * armRadius[side]
    return fillCapsules(size, [wrist, knuckles, fingers], [0.7 * radius, radius, radius])
  })
  return maskWhere(size, (i) => skin.data[i] === 1 && near.some(({ data }) => data[i] === 1))
}

function feet(size: Bitmap, { landmarks }: Person, { unit }: BodyFrame): Mask {
  const each = (['left', 'right'] as const).map((side) =>
    fillCapsules(size, [landmarks[`${side}Heel`], landmarks[`${side}FootIndex`]], [FOOT * unit, FOOT * unit]),
  )
  return union(each, size)
}
