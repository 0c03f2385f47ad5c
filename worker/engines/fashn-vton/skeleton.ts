import { type Bytes, createBytes } from '../../vision/raster/bytes.ts'
import type { Point, Size } from '../../vision/raster/plane.ts'
import type { Pose } from './keypoints.ts'
import { drawDisc, drawEllipse, drawLine } from './shapes.ts'

/** Pairs of joints in drawing order. */
const LIMBS = '1-2 1-5 2-3 3-4 5-6 6-7 1-8 8-9 9-10 1-11 11-12 12-13 1-0 0-14 14-16 0-15 15-17'
  .split(' ')
  .map((pair) => pair.split('-').map(Number))
const LIMB_GREYS = LIMBS.map((_, i) => Math.trunc(20 + (220 * i) / LIMBS.length))
const LIMB_HALF_WIDTH = 4
const LIMB_SHARE = 0.6
const JOINT_BRIGHTNESS = 1.3
const FINGER_BONES = Array.from({ length: 20 }, (_, i) => [i % 4 === 0 ? 0 : i, i + 1] as const)
const FINGER_GREYS = FINGER_BONES.map((_, i) => Math.trunc(160 + (60 * i) / 19))
const FINGERTIP_GREY = 240
const FACE_GREY = 200

/**
 * Draws the pose in greys on black, in the format of the model's training: dimmed limbs, joints, hands, face, in this z-order. One
 * channel.
 * Source: FASHN VTON v1.5 at 7c0f10a. Equals its skeletons pixel by pixel.
 */
export function drawSkeleton({ joints, hands, face }: Pose, size: Size): Bytes {
  const bitmap = createBytes(size, 1)
  drawLimbs(bitmap, joints)
  for (let i = 0; i < bitmap.data.length; i++) bitmap.data[i] = Math.trunc(bitmap.data[i] * LIMB_SHARE)
  drawJoints(bitmap, joints)
  for (const hand of hands) drawHand(bitmap, hand)
  for (const point of face) if (point) drawDisc(bitmap, point, { radius: 3, grey: FACE_GREY })
  return bitmap
}

type Points = readonly (Point | null)[]

function drawLimbs(bitmap: Bytes, joints: Points): void {
  for (const [i, [from, to]] of LIMBS.entries()) {
    const [a, b] = [joints[from], joints[to]]
    if (!a || !b) continue
    const ellipse = {
      centre: { x: Math.floor((a.x + b.x) / 2), y: Math.floor((a.y + b.y) / 2) },
      radii: { x: Math.floor(Math.trunc(Math.hypot(a.x - b.x, a.y - b.y)) / 2), y: LIMB_HALF_WIDTH },
      angle: Math.trunc((Math.atan2(a.y - b.y, a.x - b.x) * 180) / Math.PI),
    }
    drawEllipse(bitmap, ellipse, LIMB_GREYS[i])
  }
}

function drawJoints(bitmap: Bytes, joints: Points): void {
  for (const [joint, point] of joints.entries()) {
    if (!point) continue
    const limb = LIMBS.findIndex((ends) => ends.some((end) => end === joint))
    const grey = Math.min(255, Math.trunc(LIMB_GREYS[limb] * JOINT_BRIGHTNESS))
    drawDisc(bitmap, point, { radius: 4, grey })
  }
}

function drawHand(bitmap: Bytes, hand: Points): void {
  for (const [i, [from, to]] of FINGER_BONES.entries()) {
    const [a, b] = [hand[from], hand[to]]
    if (a && b) drawLine(bitmap, [a, b], FINGER_GREYS[i])
  }
  for (const point of hand) if (point) drawDisc(bitmap, point, { radius: 4, grey: FINGERTIP_GREY })
}
