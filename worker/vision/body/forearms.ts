import { union } from '../raster/mask.ts'
import type { Mask, Size } from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { between } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { bothSides, type Side } from './keypoints.ts'
import { FOREARM } from './tuning.ts'

/** Mask of forearms and hands, which can be in front of hips and legs. */
export function forearmMask(size: Size, body: BodyFrame): Mask {
  const [left, right] = bothSides((side) => forearmWithHand(size, body, side))
  return union(left, right)
}

/** Mask of one forearm and its hand. */
export function forearmWithHand(size: Size, { joints, armRadius }: BodyFrame, side: Side): Mask {
  const radius = FOREARM.radius * armRadius[side]
  const fingers = between(joints.wrist[side], joints.knuckles[side], FOREARM.fingers)
  return fillCapsules(size, [joints.elbow[side], joints.wrist[side], fingers], [radius, radius, radius])
}

/** Mask of what is certainly one forearm, from elbow to wrist, whatever the labels say. */
export function forearmCore(size: Size, { joints, armRadius }: BodyFrame, side: Side): Mask {
  const radius = FOREARM.core * armRadius[side]
  return fillCapsules(size, [joints.elbow[side], joints.wrist[side]], [radius, radius])
}
