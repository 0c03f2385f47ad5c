import { drawHands } from '../person/hand-area.ts'
import type { Person } from '../person/person.ts'
import { componentsTouching } from '../raster/components.ts'
import { intersect, union, without, withValue } from '../raster/mask.ts'
import { createMask, type Mask, type Point } from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { between, distance } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { bothSides, type Side } from './keypoints.ts'
import { BESIDE_HAND } from './tuning.ts'

/**
 * Bare skin behind a hand, such as the thigh below shorts or the belly above a skirt: skin outside of the hand that continues beyond the
 * reach of its arm. Only at hands that were found, because only their outline separates skin from skin.
 */
export function findBareBody({ mask, hands }: Pick<Person, 'mask' | 'hands'>, skin: Mask, body: BodyFrame): Mask {
  const found = bothSides((side) => hands.some(({ points }) => isAtWrist(points[0], body, side)))
  if (!found.some(Boolean)) return createMask(skin)
  const seen = drawHands(skin, hands)
  const arms = bothSides((side) => drawArm(skin, body, side))
  const bare = withValue(withValue(skin, mask, { over: 0.5 }), seen, { under: BESIDE_HAND.share })
  const other = without(bare, ...arms.map((arm) => arm.forearm))
  const elsewhere = without(other, ...arms.map((arm) => arm.hand))
  const around = arms.filter((_, side) => found[side]).map((arm) => arm.around)
  return intersect(componentsTouching(other, elsewhere), union(createMask(skin), ...around))
}

function isAtWrist(point: Point, { joints, unit }: BodyFrame, side: Side): boolean {
  return distance(point, joints.wrist[side]) < BESIDE_HAND.wrist * unit
}

interface DrawnArm {
  readonly forearm: Mask
  /** The farthest that fingers reach, and the region in which arms are looked for. */
  readonly hand: Mask
  readonly around: Mask
}

function drawArm(size: Mask, { joints, armRadius }: BodyFrame, side: Side): DrawnArm {
  const { shoulder, elbow, wrist, knuckles } = joints
  const draw = (chain: readonly Point[], times: number) =>
    fillCapsules(
      size,
      chain,
      chain.map(() => times * armRadius[side]),
    )
  const hand = [wrist[side], knuckles[side], between(wrist[side], knuckles[side], BESIDE_HAND.fingers)]
  return {
    forearm: draw([shoulder[side], elbow[side], between(elbow[side], wrist[side], BESIDE_HAND.forearm)], 1),
    hand: draw(hand, BESIDE_HAND.hand),
    around: draw(hand, BESIDE_HAND.around),
  }
}
