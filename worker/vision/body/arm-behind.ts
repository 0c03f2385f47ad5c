import type { Person } from '../person/person.ts'
import { type BodyFrame, halfWidthAt } from './body-frame.ts'
import { type BoneField, FAR } from './bone-field.ts'
import type { Side } from './keypoints.ts'
import type { Parts } from './parts.ts'
import { BEHIND } from './tuning.ts'

/** Whether forearm and hand are behind the body. `wrist` is the distance of the wrist along the arm's line, in px. */
export function isArmBehind(
  { landmarks }: Person,
  { skin }: Parts,
  { field, body, side, wrist }: { field: BoneField; body: BodyFrame; side: Side; wrist: number },
): boolean {
  const [from, to] =
    side === 0 ? [landmarks.rightShoulder, landmarks.rightWrist] : [landmarks.leftShoulder, landmarks.leftWrist]
  if (to.z - from.z < BEHIND.depth * body.unit) return false
  let [all, seen] = [0, 0]
  for (let i = 0; i < skin.data.length; i++) {
    if (field.distance.data[i] > body.armRadius[side] || field.along.data[i] < wrist) continue
    all++
    seen += skin.data[i]
  }
  return seen < BEHIND.skin * all
}

/** Removes the section of an arm that the torso hides from the field, starting `from` px along the arm. */
export function hideBehindTorso(
  { distance, along }: BoneField,
  { body, parts, from }: { body: BodyFrame; parts: Parts; from: number },
): void {
  for (let i = 0; i < along.data.length; i++) {
    if (along.data[i] < from || along.data[i] >= FAR) continue
    const across = parts.across.data[i]
    if (Math.abs(across) * body.unit >= halfWidthAt(body, parts.along.data[i], across < 0 ? 0 : 1)) continue
    distance.data[i] = FAR
    along.data[i] = FAR
  }
}
