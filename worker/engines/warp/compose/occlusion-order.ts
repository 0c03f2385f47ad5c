import { FAR } from '../../../body/bone-field.ts'
import { bothSides, type Side } from '../../../body/keypoints.ts'
import type { Parts } from '../../../body/parts.ts'
import { copyRgb } from '../../../composite/blend.ts'
import { keepComponents } from '../../../raster/components.ts'
import { featherMask } from '../../../raster/feather.ts'
import { createFieldSampler, type FieldSampler } from '../../../raster/field-sampler.ts'
import { close, erode, open } from '../../../raster/morphology.ts'
import { type Bitmap, type Colours, createPlane, type Plane, subset } from '../../../raster/plane.ts'
import { cellAt, enlargeByFactor, reduceByFactor } from '../../../raster/reduce.ts'
import { shiftDown } from '../../../raster/shift.ts'
import { dot, subtract } from '../../../raster/vector.ts'
import type { FittingRegions } from '../fit/upper/regions.ts'
import type { Removal } from '../remove/upper/remove.ts'
import type { WornGarment } from '../remove/upper/worn-mask.ts'
import { GROUND, SKIN } from '../remove/upper/zones.ts'
import type { FlatGarment } from '../warp/flat-garment.ts'
import type { GarmentLayers } from '../warp/upper.ts'
import { refineEdge } from './edge-matte.ts'

/**
 * Puts everything over each other, back to front: the picture without the worn garment, the inside of the back, contact
 * shadows, torso, bare arms, sleeves, hands, hair and face. `picture` has the layers' size; `garment` is the garment in the
 * analysed picture's size. Returns what replaces the picture and how much of it (exactly 0 where the
 * picture stays), such that picture · (1 − change) + image · change is the result.
 */
export function composeLayers(
  fitting: FittingRegions,
  {
    picture,
    layers,
    garment,
    removal,
  }: { picture: Bitmap; layers: GarmentLayers; garment: FlatGarment; removal: Removal },
): { image: Bitmap; change: Plane } {
  const fields = createFields(fitting, { garment, removal })
  const touched = [fields[REMOVAL + 3], fields[SHADOW], garment.cover]
  const sampler = createFieldSampler(fields, { size: picture, touched })
  const image = copyRgb(picture)
  const change = createPlane(picture)
  for (let y = 0; y < picture.height; y++) composeRow(y, { sampler, layers, image, change })
  return { image, change }
}

// Places of the fields in the sampler's rows; the sleeves' shadows follow.
const REMOVAL = 0
const BACK = 4
const SHADOW = 5
const CUFF_SHADOW = 6
const ARM = 7
const ARM_SHADOW = 8
const HANDS = 9
const FACE = 10
const SLEEVE_SHADOW = 11

function createFields(
  fitting: FittingRegions,
  { garment, removal }: { garment: FlatGarment; removal: Removal },
): Plane[] {
  const { person, body } = fitting
  const { zones } = removal
  const arm = armInFront(fitting, removal)
  const hands = handsInFront(fitting, removal.worn)
  return [
    ...[0, 1, 2].map((channel) => behind(planeOf(removal.layer, channel), hands)),
    behind(planeOf(removal.layer, 3, 1 / 255), hands),
    behindPerson(person.mask),
    contactShadow(fitting, { cover: garment.cover, zones, strength: 1 }),
    contactShadow(fitting, { cover: garment.sleeves, zones, strength: 0.6 }),
    arm,
    armShadow(arm, body.unit),
    hands,
    faceInFront(fitting, removal.worn),
    ...garment.eachSleeve.map((alpha) => sleeveShadow(alpha, fitting)),
    ...(isAnyBehind(fitting) ? fitting.placement.sleeves.map(({ side }) => sleeveBehind(fitting, side)) : []),
  ]
}

function behindPerson(mask: Plane): Plane {
  const share = createPlane(mask)
  for (let i = 0; i < share.data.length; i++) share.data[i] = 1 - clamp(1.3 * mask.data[i] - 0.15)
  return share
}

// Skin of the arm and what it wears; the edge follows the skin softly. A finger's tip behind cloth is no arm.
function armInFront({ body, parts, regions }: FittingRegions, { zones, worn }: Removal): Plane {
  const { uncovered, limbs } = regions
  const isSkin = skinTest(parts, worn)
  const skin = subset(
    uncovered,
    (i) => (parts.skin.data[i] === 1 && isSkin(i)) || (zones[i] === SKIN && limbs.data[i] === 1),
  )
  const closed = close(skin, 0.025 * body.unit)
  const whole = subset(uncovered, (i) => skin.data[i] === 1 || (closed.data[i] === 1 && !parts.top.data[i]))
  const shown = keepComponents(open(whole, 1), ({ area }) => area > 0.006 * body.unit ** 2)
  const edge = featherMask(shown, featherOf(body.unit))
  const arm = refineEdge(edge, { own: shown, worn, lab: parts.lab, reach: 0.015 * body.unit })
  const sure = erode(shown, 1)
  for (let i = 0; i < arm.data.length; i++) if (sure.data[i] && parts.skin.data[i]) arm.data[i] = 1
  return arm
}

// In the gap between arm and body the mask is not sure, and a wall in the shade is as dark as an arm: the hue decides.
function skinTest({ lab, skinColour }: Parts, { background }: WornGarment): (index: number) => boolean {
  if (!skinColour) return () => true
  const { cells } = background
  return (i) => {
    const cell = cellAt(background, lab, i)
    const a = skinColour[1] - cells.data[cell + 1]
    const b = skinColour[2] - cells.data[cell + 2]
    const length = a * a + b * b
    if (length < MIN_HUE_DIFFERENCE ** 2) return true
    const along = (lab.data[i * 3 + 1] - cells.data[cell + 1]) * a + (lab.data[i * 3 + 2] - cells.data[cell + 2]) * b
    return along > 0.35 * length
  }
}

const MIN_HUE_DIFFERENCE = 6

function armShadow(arm: Plane, unit: number): Plane {
  const shadow = featherMask(shiftDown(arm, Math.round(0.01 * unit)), 0.02 * unit)
  for (let i = 0; i < shadow.data.length; i++) shadow.data[i] = clamp(0.25 * shadow.data[i] - arm.data[i])
  return shadow
}

// Under hems, cuffs and the collar, and a wider soft darkening all around. `strength` 1 on cloth.
function contactShadow(
  { person, body, parts }: FittingRegions,
  { cover, zones, strength }: { cover: Plane; zones: Uint8Array; strength: number },
): Plane {
  const cells = reduceByFactor(shiftDown(cover, Math.round(0.012 * body.unit)), 2)
  const near = enlargeByFactor(featherMask(cells, 0.009 * body.unit), 2, cover)
  const wide = enlargeByFactor(featherMask(reduceByFactor(cover, 2), 0.0175 * body.unit), 2, cover)
  const shadow = createPlane(cover)
  for (let i = 0; i < shadow.data.length; i++) {
    if (wide.data[i] === 0 || zones[i] === GROUND) continue
    const share = cover.data[i]
    const onPerson = clamp(1.2 * person.mask.data[i] - 0.1)
    const contact = 0.55 * clamp(near.data[i] - share) * onPerson
    const around = parts.along.data[i] > -0.25 ? 0.36 * Math.min(0.5, clamp(wide.data[i] - 0.5 * share)) * onPerson : 0
    shadow.data[i] = strength * (1 - (1 - contact) * (1 - around))
  }
  return shadow
}

function handsInFront({ body, parts, placement, regions }: FittingRegions, worn: WornGarment): Plane {
  const { skin } = parts
  const shown = keepComponents(
    subset(regions.hands, (i) => skin.data[i] === 1),
    ({ area }) => area > 0.006 * body.unit ** 2,
  )
  const edge = featherMask(shown, featherOf(body.unit))
  const hands = refineEdge(edge, { own: shown, worn, lab: parts.lab, reach: 0.015 * body.unit })
  const allowed = bothSides((side) => {
    const { along, forearm, elbow, wrist } = regions.arms[side]
    const sleeve = placement.sleeves.find((candidate) => candidate.side === side)
    const start = sleeve?.long ? wrist - 0.02 * body.unit : wrist - 0.1 * (wrist - elbow)
    const folded = sleeve && !sleeve.long && forearm.along !== along ? Math.max(sleeve.length, elbow) : start
    return (i: number) => forearm.along.data[i] >= Math.min(start, folded) && forearm.along.data[i] < FAR
  })
  for (let i = 0; i < hands.data.length; i++) {
    // Only what lies beside a hand is mixed with what lies behind it.
    if (shown.data[i]) hands.data[i] = 1
    if (hands.data[i] > 0 && !allowed.some((test) => test(i))) hands.data[i] = 0
  }
  return hands
}

function behind(plane: Plane, front: Plane): Plane {
  for (let i = 0; i < plane.data.length; i++) plane.data[i] *= 1 - front.data[i]
  return plane
}

function faceInFront({ person, body, parts, regions }: FittingRegions, worn: WornGarment): Plane {
  const { skin } = parts
  const { face, head, hair } = regions
  const hairShare = subset(hair, (i) => person.mask.data[i] > 0.4)
  const faceShare = subset(
    head,
    (i) => face.data[i] === 1 || (person.mask.data[i] > 0.5 && skin.data[i] + hair.data[i] > 0),
  )
  const softHair = featherMask(hairShare, featherOf(body.unit))
  const hairEdge = refineEdge(softHair, { own: hairShare, worn, lab: parts.lab, reach: 0.02 * body.unit })
  const faceEdge = featherMask(faceShare, 1)
  for (let i = 0; i < hairEdge.data.length; i++) hairEdge.data[i] = Math.max(hairEdge.data[i], faceEdge.data[i])
  return hairEdge
}

// A sleeve is sewn to the torso above the armpit and hangs free below it: only there it throws a shadow.
function sleeveShadow(alpha: Plane, { body, parts, placement }: FittingRegions): Plane {
  const shadow = featherMask(alpha, 0.015 * body.unit)
  const armpit =
    placement.armpits.reduce((sum, point) => sum + dot(subtract(point, body.shoulders), body.down), 0) / 2 / body.trunk
  for (let i = 0; i < shadow.data.length; i++) {
    if (shadow.data[i] === 0) continue
    const free = clamp((parts.along.data[i] - armpit + 0.1) / 0.12)
    shadow.data[i] = 0.2 * clamp(shadow.data[i] - alpha.data[i]) * free
  }
  return shadow
}

function isAnyBehind({ placement, regions }: FittingRegions): boolean {
  return placement.sleeves.some(({ side }) => regions.arms[side].behind)
}

// Below the armpit the torso hides the sleeve of an arm that is behind the body.
function sleeveBehind({ body, parts, placement, regions }: FittingRegions, side: Side): Plane {
  const behind = createPlane(parts.along)
  if (!regions.arms[side].behind) return behind
  const armpit = dot(subtract(placement.armpits[side], body.shoulders), body.down) / body.trunk
  for (let i = 0; i < behind.data.length; i++) behind.data[i] = clamp((parts.along.data[i] - armpit) / 0.1)
  return behind
}

function featherOf(unit: number): number {
  return Math.max(0.8, 0.004 * unit)
}

function planeOf({ width, height, channels, data }: Colours, channel: number, scale = 1): Plane {
  const plane = createPlane({ width, height })
  for (let i = 0, k = channel; i < plane.data.length; i++, k += channels) plane.data[i] = data[k] * scale
  return plane
}

function clamp(value: number): number {
  return Math.min(1, Math.max(0, value))
}

// A change below this share of a pixel is none: it could not be seen in 8 bits.
const MIN_CHANGE = 1 / 256

interface Target {
  readonly sampler: FieldSampler
  readonly layers: GarmentLayers
  readonly image: Bitmap
  readonly change: Plane
}

// Every state is a sum of the same few pictures: the picture without the worn garment ("bare"), the inside of the back, the torso
// and the sleeves. So only their weights go through the layers, and the colours are summed once.
function composeRow(y: number, { sampler, layers, image, change }: Target): void {
  const { torso, back, sleeves } = layers
  const { width } = image
  const weights = new Float64Array(sleeves.length)
  const { from, to } = sampler.moveTo(y)
  for (let x = from; x < to; x++) {
    const i = y * width + x
    const k = i * 4
    const f = sampler.fieldsAt(x)
    const torsoCover = torso.data[k + 3] / 255
    const backCover = (back.data[k + 3] / 255) * f[BACK]
    const open = (1 - f[SHADOW]) * (1 - torsoCover)
    let others = (1 - f[ARM_SHADOW] * torsoCover) * (1 - f[ARM])
    // Only the sleeve throws a shadow on an arm that lies before the torso.
    let bare = (1 - backCover) * open * others + (1 - f[CUFF_SHADOW]) * f[ARM]
    for (let s = 0; s < sleeves.length; s++) {
      // Only when an arm is behind the body are there fields for it.
      const before = 1 - (f[SLEEVE_SHADOW + sleeves.length + s] ?? 0) * torsoCover
      const hidden =
        (1 - f[SLEEVE_SHADOW + s] * before * torsoCover) * (1 - (before * sleeves[s].layer.data[k + 3]) / 255)
      bare *= hidden
      others *= hidden
      for (let below = 0; below < s; below++) weights[below] *= hidden
      weights[s] = before
    }
    const behind = (1 - f[HANDS]) * (1 - f[FACE])
    bare = bare * behind + 1 - behind
    others *= behind
    const share = 1 - bare * (1 - f[REMOVAL + 3])
    if (share < MIN_CHANGE) continue
    change.data[i] = share > 1 - MIN_CHANGE ? 1 : share
    const inside = 0.8 * f[BACK] * open * others
    for (let c = 0; c < 3; c++) {
      let colour = bare * f[REMOVAL + c] + inside * back.data[k + c] + others * torso.data[k + c]
      for (let s = 0; s < sleeves.length; s++) colour += weights[s] * behind * sleeves[s].layer.data[k + c]
      image.data[i * 3 + c] = Math.min(255, Math.round(colour / share))
    }
  }
}
