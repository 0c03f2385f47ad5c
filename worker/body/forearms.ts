import { type Mask, type Size, union } from '../raster/plane.ts'
import { fillCapsules } from '../raster/polygon.ts'
import { between } from '../raster/vector.ts'
import type { BodyFrame } from './body-frame.ts'
import { bothSides } from './keypoints.ts'
import { FOREARM } from './tuning.ts'

/** Mask of forearms and hands, which can be in front of hips and legs. */
export function forearmMask(size: Size, { joints, armRadius }: BodyFrame): Mask {
  const [left, right] = bothSides((side) => {
    const radius = FOREARM.radius * armRadius[side]
    const fingers = between(joints.wrist[side], joints.knuckles[side], FOREARM.fingers)
    return fillCapsules(size, [joints.elbow[side], joints.wrist[side], fingers], [radius, radius, radius])
  })
  return union(left, right)
}

/** Mask of what is certainly forearm, from elbow to wrist, whatever the labels say. */
export function forearmCores(size: Size, { joints, armRadius }: BodyFrame): Mask {
  const [left, right] = bothSides((side) => {
    const radius = FOREARM.core * armRadius[side]
    return fillCapsules(size, [joints.elbow[side], joints.wrist[side]], [radius, radius])
  })
  return union(left, right)
}
