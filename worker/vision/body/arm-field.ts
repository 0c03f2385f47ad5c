import type { Person } from '../person/person.ts'
import { createMask, type Mask, type Plane, type Point } from '../raster/plane.ts'
import { distanceToSegment } from '../raster/polygon.ts'
import { arcLengths, interpolate } from '../raster/polyline.ts'
import { add, move, scale, subtract } from '../raster/vector.ts'
import { type ArmProfile, expectedArmRadius } from './arm-profile.ts'
import { findBareBody } from './bare-body.ts'
import { type BodyFrame, halfWidthAt } from './body-frame.ts'
import { type BoneField, FAR, measureNearness } from './bone-field.ts'
import { bothSides, type Side, type Sides } from './keypoints.ts'
import type { Parts } from './parts.ts'
import { BARE_ARM, BARE_RADIUS, BEHIND, CUFF, CUFF_RIM, MIN_PRESENT, SLEEVE_ON_HAND } from './tuning.ts'

/** One arm as two planes over the bitmap. Both planes are FAR where the arm is not near. */
export interface ArmField {
  /** px to the nearest point on the line shoulder, elbow, wrist, end of the hand. */
  readonly distance: Plane
  /** px from the shoulder along that line to its nearest point. */
  readonly along: Plane
  /** The same two planes for the line from the elbow: a forearm that is bent back is in front of its own upper arm. */
  readonly forearm: BoneField
  /** Distance of the elbow, the wrist and the end of the hand along the line, in px. */
  readonly elbow: number
  readonly wrist: number
  readonly end: number
  /** Radius of the bare arm in px: measured where the arm is bare, otherwise an anatomical one. */
  readonly bareRadius: number
  /** Length of the worn sleeve along the line, in px. A wide cuff covers a part of the hand. */
  readonly sleeveEnd: number
  /** Where an undressed arm ends, in px along the line: slightly past the wrist, or past the part of the hand that a cuff covers. */
  readonly bareEnd: number
  /** Whether forearm and hand are behind the body. The planes show no arm where the torso hides it. */
  readonly behind: boolean
}

/** Both arms of a person; `arms` are their bones and widths. */
export function measureArms({
  person,
  body,
  parts,
  arms,
}: {
  person: Person
  body: BodyFrame
  parts: Parts
  arms: Sides<ArmProfile>
}): Sides<ArmField> {
  const bare = findBareBody(person, parts.skin, body)
  return bothSides((side) => measureArm({ person, body, parts, profile: arms[side], side, bare }))
}

// The bare body behind a hand is not part of the arm.
function hide({ distance, along }: BoneField, mask: Mask): void {
  for (let i = 0; i < mask.data.length; i++) {
    if (!mask.data[i]) continue
    distance.data[i] = FAR
    along.data[i] = FAR
  }
}

/** Pixels of the arm: nearer than `radiusAt(distance from the shoulder in px)`; a radius of 0 excludes a section. */
export function armMask({ distance: far, along, end }: ArmField, radiusAt: (way: number) => number): Mask {
  const radii = Float32Array.from({ length: Math.ceil(end) + 2 }, (_, way) => radiusAt(way) || -1)
  const mask = createMask(far)
  for (let i = 0; i < mask.data.length; i++) {
    const distant = far.data[i]
    if (distant < FAR && distant <= radii[Math.round(along.data[i])]) mask.data[i] = 1
  }
  return mask
}

/** Radius of the bare arm in px at a distance from the shoulder; interpolates between deltoid, elbow, wrist and the end of the hand. */
export function bareRadiusAt({ elbow, wrist, end, bareRadius }: ArmField, way: number): number {
  return bareRadius * interpolate([0, BARE_ARM.deltoid * elbow, elbow, wrist, end], BARE_ARM.radii, way)
}

function measureArm({
  person,
  body,
  parts,
  profile,
  side,
  bare,
}: {
  person: Person
  body: BodyFrame
  parts: Parts
  profile: ArmProfile
  side: Side
  bare: Mask
}): ArmField {
  const { shoulder, elbow, wrist } = body.joints
  const chain = [shoulder[side], elbow[side], wrist[side], handEnd(body, side)]
  const ways = arcLengths(chain)
  const drawn = isWristVisible(person, side) ? chain : chain.slice(0, 2)
  const reach = 2.2 * body.armRadius[side]
  const field = measureNearness(parts.skin, { chain: drawn, reach })
  hide(field, bare)
  const behind = drawn === chain && isArmBehind(person, parts, { field, body, side, wrist: ways[2] })
  if (behind) hideBehindTorso(field, { body, parts, from: 0.5 * ways[1] })
  const arm = {
    ...field,
    behind,
    forearm: behind ? field : forearmOf(field, { chain: drawn, reach, elbow: ways[1], bare }),
    elbow: ways[1],
    wrist: ways[2],
    end: ways[3],
  }
  const measured = measureBareArm(parts, profile) ?? measureWrist(arm, parts, body.unit)
  const bareRadius = Math.min(
    measured ?? body.armRadius[side],
    (measured ? BARE_RADIUS.max : BARE_RADIUS.maxUnknown) * body.unit,
  )
  const sized = { ...arm, bareRadius: Math.max(BARE_RADIUS.min * body.unit, bareRadius) }
  const sleeveEnd = findSleeveEnd(sized, parts, 0.05 * body.unit)
  return { ...sized, sleeveEnd, bareEnd: Math.max(sized.wrist + CUFF * body.unit, sleeveEnd + CUFF_RIM * body.unit) }
}

// An arm that is not folded has no second field.
function forearmOf(
  field: BoneField,
  { chain, reach, elbow, bare }: { chain: readonly Point[]; reach: number; elbow: number; bare: Mask },
): BoneField {
  if (chain.length < 4 || !isFolded(chain, reach)) return field
  const forearm = measureNearness(field.distance, { chain: chain.slice(1), reach })
  hide(forearm, bare)
  for (let i = 0; i < forearm.along.data.length; i++) if (forearm.along.data[i] < FAR) forearm.along.data[i] += elbow
  return forearm
}

// Whether the wrist or the hand is so close to the upper arm that some of their pixels are nearer to the upper arm's bone.
function isFolded([shoulder, elbow, ...hand]: readonly Point[], reach: number): boolean {
  return hand.some((point) => distanceToSegment(point, shoulder, elbow).distance < reach)
}

type Sized = Omit<ArmField, 'sleeveEnd' | 'bareEnd'>

// The sleeve ends where the bone has more skin than cloth.
function findSleeveEnd(arm: Sized, { skin, top }: Parts, step: number): number {
  const last = arm.wrist + SLEEVE_ON_HAND * (arm.end - arm.wrist)
  const cloth = new Float64Array(Math.ceil(last / step) + 1)
  for (let i = 0; i < skin.data.length; i++) {
    if (arm.distance.data[i] > 0.5 * arm.bareRadius || arm.along.data[i] > last) continue
    cloth[Math.floor(arm.along.data[i] / step)] += top.data[i] - skin.data[i]
  }
  return step * (cloth.findLastIndex((surplus) => surplus > 0) + 1)
}

// Joints outside the bitmap are guesses, and a forearm that is not visible must not be drawn.
function isWristVisible({ landmarks }: Person, side: Side): boolean {
  return (side === 0 ? landmarks.rightWrist : landmarks.leftWrist).presence >= MIN_PRESENT
}

function handEnd({ joints }: BodyFrame, side: Side): Point {
  return add(joints.wrist[side], scale(subtract(joints.knuckles[side], joints.wrist[side]), 1.9))
}

// Cloth widens an arm: the mask shows the arm's thickness only where its outer edge shows skin.
function measureBareArm(parts: Parts, profile: ArmProfile): number | null {
  const { width, height, data } = parts.skin
  const found: number[] = []
  for (const [i, point] of profile.points.entries()) {
    const share = profile.along[i] / profile.length
    if (share < 0.25 || share > 0.72 || !profile.outerMeasured[i]) continue
    const { x, y } = move(point, profile.normals[i], 0.7 * profile.outer[i])
    const at =
      Math.min(height - 1, Math.max(0, Math.trunc(y))) * width + Math.min(width - 1, Math.max(0, Math.trunc(x)))
    // The bone can be off the middle of the arm. An inner edge that is further away belongs to the trunk.
    const radius = (profile.outer[i] + Math.min(profile.inner[i], profile.outer[i])) / 2
    if (data[at]) found.push(radius / expectedArmRadius(share))
  }
  return found.length < 3 ? null : found.toSorted((a, b) => a - b)[found.length >> 1]
}

// Under a long sleeve only the wrist and the start of the hand show the thickness of the arm.
function measureWrist(
  { distance: far, along, wrist }: Omit<Sized, 'bareRadius'>,
  { skin }: Parts,
  unit: number,
): number | null {
  const rows = new Float64Array(12)
  for (let i = 0; i < skin.data.length; i++) {
    if (!skin.data[i] || far.data[i] > 0.25 * unit) continue
    const row = Math.floor(((along.data[i] - wrist) / unit + 0.04) / 0.01)
    if (row >= 0 && row < rows.length) rows[row]++
  }
  const widths = [...rows].filter((count) => count > 0.03 * unit * 0.01 * unit)
  if (widths.length < 4) return null
  const width = widths.toSorted((a, b) => a - b)[widths.length >> 1] / (0.01 * unit)
  return width / 2 / 0.75
}

/** Whether forearm and hand are behind the body. `wrist` is the distance of the wrist along the arm's line, in px. */
function isArmBehind(
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
function hideBehindTorso(
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
