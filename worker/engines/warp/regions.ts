import type { Person } from '../../person/person.ts'
import { fillSmoothly } from '../../raster/fill.ts'
import { open } from '../../raster/morphology.ts'
import {
  countSet,
  createMask,
  createPlane,
  type Mask,
  maskWhere,
  type Plane,
  type Point,
  subset,
} from '../../raster/plane.ts'
import { fillPolygon } from '../../raster/polygon.ts'
import { arcLengths, interpolate } from '../../raster/polyline.ts'
import { difference, reduceMasked } from '../../raster/reduce.ts'
import { add, between, distance, dot, move, perpendicular, scale, subtract, unit } from '../../raster/vector.ts'
import type { ArmProfile } from './arm.ts'
import { bothSides, type Side, type Sides } from './axes.ts'
import type { BodyFrame } from './body.ts'
import type { Parts } from './parts.ts'
import type { Placement, SleevePlacement } from './place.ts'

/** From this share on a garment hides what is behind it. */
export const SOLID = 0.95

/** One arm as two planes over the picture, both far beyond every length where the arm is not near. */
export interface ArmField {
  /** px to the nearest point on the line shoulder, elbow, wrist, end of the hand. */
  readonly distance: Plane
  /** px from the shoulder along that line to its nearest point. */
  readonly along: Plane
  /** Where elbow, wrist and the hand's end lie along the line, in px. */
  readonly elbow: number
  readonly wrist: number
  readonly end: number
  /** Radius of the bare arm in px: measured where the arm is bare, otherwise an anatomical one. */
  readonly bareRadius: number
  /** How far the worn sleeve reaches along the line, in px. */
  readonly sleeveEnd: number
}

/** Where the body's pieces lie in the analysed picture. */
export interface Regions {
  readonly arms: Sides<ArmField>
  /** The face with ears, cut off below the chin. */
  readonly head: Mask
  /** Bare arms from shoulder to wrist as they would look without sleeves. */
  readonly limbs: Mask
  /** What of arms and hands lies in front of the garment's body, from just above the sleeve's end. */
  readonly uncovered: Mask
  /** What of the arms lies beyond the sleeves' ends, with the loose cloth around them; nothing for a garment without sleeves. */
  readonly beyondCuffs: Mask
  readonly hands: Mask
  /** Shoulders between neck corners, tips and joints. */
  readonly shoulders: Mask
  /** Hair, without what below the chin only has the colour of some hair or hat. */
  readonly hair: Mask
  /** Distance from the body's axis as a multiple of the torso's half width at that height; not negative. */
  readonly sideways: Plane
}

/** A person and where a garment lies on them; all in the analysed picture's px. */
export interface Fitting {
  readonly person: Person
  readonly body: BodyFrame
  readonly parts: Parts
  readonly placement: Placement
}

export interface FittingRegions extends Fitting {
  readonly regions: Regions
}

/** The picture's regions for a placed garment. */
export function findRegions(fitting: Fitting): Regions {
  const { person, body, parts, placement } = fitting
  const arms = balance(bothSides((side) => measureArm({ person, body, parts, profile: placement.arms[side], side })))
  return {
    arms,
    head: findHead(person, body),
    limbs: eitherArm(arms, bareArm),
    uncovered: eitherArm(arms, (arm, side) => uncoveredArm(arm, fitting, side)),
    beyondCuffs: eitherArm(arms, (arm, side) => beyondCuff(arm, fitting, side)),
    hands: eitherArm(arms, (arm, side) => handOf(arm, body.armRadius[side])),
    shoulders: fillPolygon(parts.along, [
      body.shoulderTip[0],
      placement.neckCorners[0],
      placement.neckCorners[1],
      body.shoulderTip[1],
      body.joints.shoulder[1],
      body.joints.shoulder[0],
    ]),
    hair: findHair(fitting),
    sideways: measureSideways(body, parts),
  }
}

/** Pixels of the arm: nearer than `radiusAt(way from the shoulder in px)`; a radius of 0 leaves a part out. */
export function armMask({ distance: far, along, end }: ArmField, radiusAt: (way: number) => number): Mask {
  const radii = Float32Array.from({ length: Math.ceil(end) + 2 }, (_, way) => radiusAt(way) || -1)
  const mask = createMask(far)
  for (let i = 0; i < mask.data.length; i++) {
    const distant = far.data[i]
    if (distant < FAR && distant <= radii[Math.round(along.data[i])]) mask.data[i] = 1
  }
  return mask
}

/** The bare arm's radius in px at a way from the shoulder: deltoid, elbow, wrist. */
export function bareRadiusAt({ elbow, wrist, bareRadius }: ArmField, way: number): number {
  return bareRadius * interpolate([0, 0.45 * elbow, elbow, wrist], [1.12, 1.01, 0.9, 0.64], way)
}

const FAR = 1e6

function measureArm({
  person,
  body,
  parts,
  profile,
  side,
}: {
  person: Person
  body: BodyFrame
  parts: Parts
  profile: ArmProfile
  side: Side
}): ArmField {
  const { shoulder, elbow, wrist } = body.joints
  const chain = [shoulder[side], elbow[side], wrist[side], handEnd(body, side)]
  const ways = arcLengths(chain)
  const field = { distance: createPlane(parts.skin, FAR), along: createPlane(parts.skin, FAR) }
  const drawn = isWristSeen(person, side) ? chain : chain.slice(0, 2)
  drawNearness(field, { chain: drawn, ways, reach: 2.2 * body.armRadius[side] })
  const arm = { ...field, elbow: ways[1], wrist: ways[2], end: ways[3] }
  const measured = measureBareArm(parts, profile) ?? measureWrist(arm, parts, body.unit)
  const bareRadius = Math.min(measured ?? body.armRadius[side], (measured ? 0.19 : 0.15) * body.unit)
  const sized = { ...arm, bareRadius: Math.max(0.09 * body.unit, bareRadius) }
  return { ...sized, sleeveEnd: findSleeveEnd(sized, parts, 0.05 * body.unit) }
}

// As far as there is more cloth than skin along the bone.
function findSleeveEnd(arm: Omit<ArmField, 'sleeveEnd'>, { skin, top }: Parts, step: number): number {
  const cloth = new Float64Array(Math.ceil(arm.wrist / step) + 1)
  for (let i = 0; i < skin.data.length; i++) {
    if (arm.distance.data[i] > 0.5 * arm.bareRadius || arm.along.data[i] > arm.wrist) continue
    cloth[Math.floor(arm.along.data[i] / step)] += top.data[i] - skin.data[i]
  }
  return step * (cloth.findLastIndex((surplus) => surplus > 0) + 1)
}

// An arm that looks much thicker than the other has something of the ground on its mask.
function balance([left, right]: Sides<ArmField>): Sides<ArmField> {
  return [
    { ...left, bareRadius: Math.min(left.bareRadius, 1.2 * right.bareRadius) },
    { ...right, bareRadius: Math.min(right.bareRadius, 1.2 * left.bareRadius) },
  ]
}

// Joints outside of the picture are guesses; a forearm that is not seen must not be drawn.
function isWristSeen({ landmarks }: Person, side: Side): boolean {
  return (side === 0 ? landmarks.rightWrist : landmarks.leftWrist).presence >= 0.5
}

function handEnd({ joints }: BodyFrame, side: Side): Point {
  return add(joints.wrist[side], scale(subtract(joints.knuckles[side], joints.wrist[side]), 1.9))
}

function drawNearness(
  field: { distance: Plane; along: Plane },
  { chain, ways, reach }: { chain: readonly Point[]; ways: Float64Array; reach: number },
): void {
  const { width, height } = field.distance
  for (let s = 0; s + 1 < chain.length; s++) {
    const [a, b] = [chain[s], chain[s + 1]]
    const dx = b.x - a.x
    const dy = b.y - a.y
    const perLength = 1 / Math.max(1e-6, dx * dx + dy * dy)
    const left = Math.max(0, Math.floor(Math.min(a.x, b.x) - reach))
    const right = Math.min(width - 1, Math.ceil(Math.max(a.x, b.x) + reach))
    const bottom = Math.min(height - 1, Math.ceil(Math.max(a.y, b.y) + reach))
    for (let y = Math.max(0, Math.floor(Math.min(a.y, b.y) - reach)); y <= bottom; y++) {
      for (let x = left; x <= right; x++) {
        const t = Math.min(1, Math.max(0, ((x - a.x) * dx + (y - a.y) * dy) * perLength))
        const far = Math.sqrt((x - a.x - t * dx) ** 2 + (y - a.y - t * dy) ** 2)
        const i = y * width + x
        if (far > reach || far >= field.distance.data[i]) continue
        field.distance.data[i] = far
        field.along.data[i] = ways[s] + t * (ways[s + 1] - ways[s])
      }
    }
  }
}

// Cloth widens an arm: only where its outer edge shows skin does the mask tell how thick it is.
function measureBareArm(parts: Parts, profile: ArmProfile): number | null {
  const { width, height, data } = parts.skin
  const found: number[] = []
  for (const [i, point] of profile.points.entries()) {
    const share = profile.along[i] / profile.length
    if (share < 0.25 || share > 0.72 || !profile.outerMeasured[i]) continue
    const { x, y } = move(point, profile.normals[i], 0.7 * profile.outer[i])
    const at =
      Math.min(height - 1, Math.max(0, Math.trunc(y))) * width + Math.min(width - 1, Math.max(0, Math.trunc(x)))
    // The bone need not lie in the middle of the arm; an inner edge that is further out is the trunk's.
    const radius = (profile.outer[i] + Math.min(profile.inner[i], profile.outer[i])) / 2
    if (data[at]) found.push(radius / interpolate([0, 0.25, 0.5, 0.62, 1], [1.05, 1, 0.9, 0.85, 0.62], share))
  }
  return found.length < 3 ? null : found.toSorted((a, b) => a - b)[found.length >> 1]
}

// Under a long sleeve only the wrist and the beginning of the hand show how slender the arm is.
function measureWrist(
  { distance: far, along, wrist }: Omit<ArmField, 'bareRadius' | 'sleeveEnd'>,
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

// Arms and hands come to the front where the garment leaves them: beyond the cuff's line or, without a sleeve, from below the
// armpit. They start a little under the cuff so that no gap opens between the two.
function uncoveredArm(arm: ArmField, { body, placement }: Fitting, side: Side): Mask {
  const { unit: length, armRadius } = body
  const fullRadius = (way: number) =>
    way < arm.wrist
      ? 1.15 * bareRadiusAt(arm, way)
      : armRadius[side] * interpolate([arm.wrist, arm.end], [1, 1.25], way)
  const sleeve = placement.sleeves.find((candidate) => candidate.side === side)
  if (!sleeve) {
    const start = bareFrom(body, placement, side)
    // At full width at once it would begin with a step: it widens on its way out from behind the garment.
    return armMask(arm, (way) => {
      if (way < start) return 0
      return Math.min(fullRadius(way), armRadius[side] * (0.25 + (0.95 * (way - start)) / (0.45 * length)))
    })
  }
  return cutAtCuff(arm, sleeve, { near: armMask(arm, fullRadius), overlap: 0.03 * length, slant: 0.12 * length })
}

function beyondCuff(arm: ArmField, { body, placement }: Fitting, side: Side): Mask {
  const sleeve = placement.sleeves.find((candidate) => candidate.side === side)
  if (!sleeve) return createMask(arm.distance)
  return cutAtCuff(arm, sleeve, { near: armMask(arm, () => FAR), overlap: 0, slant: 0.12 * body.unit })
}

// The cuff's line need not be square to the bone: up to `slant` px before and behind its middle the line itself decides.
function cutAtCuff(
  { along, wrist }: ArmField,
  sleeve: SleevePlacement,
  { near, overlap, slant }: { near: Mask; overlap: number; slant: number },
): Mask {
  const end = Math.min(sleeve.length, wrist)
  const isBeyond = halfPlaneBeyond(sleeve, overlap)
  return subset(near, (i) => {
    if (along.data[i] < end - slant) return false
    return along.data[i] > end + slant || isBeyond(i % near.width, Math.floor(i / near.width))
  })
}

function bareFrom(body: BodyFrame, placement: Placement, side: Side): number {
  const shoulder = body.joints.shoulder[side]
  const upperArm = subtract(body.joints.elbow[side], shoulder)
  const armpit = dot(subtract(placement.armpits[side], shoulder), unit(upperArm)) + 0.11 * body.unit
  return Math.max(0.35 * distance(body.joints.elbow[side], shoulder), armpit)
}

// Points on the hand's side of the line between the two ends of the cuff, moved up the arm by `overlap` px.
function halfPlaneBeyond({ outer, inner }: SleevePlacement, overlap: number): (x: number, y: number) => boolean {
  const last = outer.length - 1
  const cuff = subtract(inner[last], outer[last])
  const down = subtract(between(outer[last], inner[last], 0.5), between(outer[last - 3], inner[last - 3], 0.5))
  const across = unit(perpendicular(cuff))
  const normal = dot(across, down) < 0 ? scale(across, -1) : across
  const level = dot(outer[last], normal) - overlap
  return (x, y) => x * normal.x + y * normal.y > level
}

function bareArm(arm: ArmField): Mask {
  return armMask(arm, (way) => (way > arm.wrist ? 0 : bareRadiusAt(arm, way)))
}

function handOf(arm: ArmField, radius: number): Mask {
  const start = arm.wrist - 0.1 * (arm.wrist - arm.elbow)
  return armMask(arm, (way) =>
    way < start ? 0 : radius * interpolate([start, arm.wrist, arm.end], [0.9, 0.95, 1.25], way),
  )
}

function eitherArm(arms: Sides<ArmField>, draw: (arm: ArmField, side: Side) => Mask): Mask {
  const [left, right] = bothSides((side) => draw(arms[side], side))
  for (let i = 0; i < left.data.length; i++) left.data[i] |= right.data[i]
  return left
}

// Everything below the chin is left to the garment: a neck painted over a collar looks cut out.
function findHead({ landmarks, mask }: Person, body: BodyFrame): Mask {
  const { nose, leftEye, rightEye, leftEar, rightEar, mouthLeft, mouthRight } = landmarks
  const size = Math.max(distance(leftEye, rightEye), 0.1 * body.unit, 0.5 * distance(leftEar, rightEar))
  const mouth = between(mouthLeft, mouthRight, 0.5)
  const chin = move(mouth, subtract(mouth, nose), 0.95)
  const up = unit(subtract(between(leftEye, rightEye, 0.5), mouth))
  const inside = (x: number, y: number) => {
    const high = (x - nose.x) * up.x + (y - nose.y) * up.y
    const wide = (x - nose.x) * up.y - (y - nose.y) * up.x
    if ((x - chin.x) * up.x + (y - chin.y) * up.y <= 0) return false
    return (wide / (1.05 * size)) ** 2 + (high / (1.3 * size)) ** 2 <= 1
  }
  return maskWhere(mask, (i) => inside(i % mask.width, Math.floor(i / mask.width)))
}

// White collars pass for grey hair and dark ones for a hat: below the chin hair must look like the hair above it.
function findHair({ person, body, parts }: Fitting): Mask {
  const { hair, lab } = parts
  const { nose, mouthLeft, mouthRight } = person.landmarks
  const mouth = between(mouthLeft, mouthRight, 0.5)
  const up = unit(subtract(nose, mouth))
  const isAbove = (i: number) => {
    const x = (i % hair.width) - mouth.x
    const y = Math.floor(i / hair.width) - mouth.y
    return x * up.x + y * up.y > 0
  }
  const above = subset(hair, isAbove)
  if (countSet(above) === 0) return hair
  const factor = Math.max(1, Math.round(body.unit / 64))
  const known = reduceMasked(lab, above, factor)
  const cells = fillSmoothly(known.colours, known.weight)
  const alike = subset(hair, (i) => above.data[i] === 1 || difference(lab, { cells, factor }, i) < 32)
  if (countSet(hair) - countSet(alike) < 0.01 * body.unit ** 2) return hair
  // A collar's blurred edge passes for hair again.
  const thick = open(alike, 0.015 * body.unit)
  return subset(alike, (i) => above.data[i] === 1 || thick.data[i] === 1)
}

function measureSideways({ fractions, halfWidths, unit: length }: BodyFrame, { along, across }: Parts): Plane {
  const mean = fractions.map((_, i) => (halfWidths[0][i] + halfWidths[1][i]) / 2)
  const out = createPlane(along)
  const table = Float32Array.from({ length: 512 }, (_, i) => interpolate(fractions, mean, i / 256))
  for (let i = 0; i < out.data.length; i++) {
    const row = Math.min(511, Math.max(0, Math.round(along.data[i] * 256)))
    out.data[i] = (Math.abs(across.data[i]) * length) / Math.max(1, table[row])
  }
  return out
}
