import { cropBitmap, type Rectangle } from '../../../../../api/shared/image/image.ts'
import type { BodyFrame } from '../../../../vision/body/body-frame.ts'
import { axisAt } from '../../../../vision/body/keypoints.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import type { View } from '../../../../vision/body/view.ts'
import { movePoints, type Person } from '../../../../vision/person/person.ts'
import { cropColours, cropMask, cropPlane, type Window } from '../../../../vision/raster/crop.ts'
import type { Point } from '../../../../vision/raster/plane.ts'
import type { PlacedGarment, Placement } from './fitting.ts'

/** A fitting and its bitmaps, cropped to the region that the new or the worn garment can cover. */
export interface RegionOfInterest {
  readonly fitting: PlacedGarment
  readonly view: View
}

/**
 * Crops the view so that all later stages process fewer pixels. With `toFeet` the legs stay in the view for any garment length.
 */
export function cropToGarment(view: View, fitting: PlacedGarment, { toFeet = false } = {}): RegionOfInterest {
  const window = findWindow(view, fitting, toFeet)
  const shift = (point: Point): Point => ({ ...point, x: point.x - window.x, y: point.y - window.y })
  const { person, body, parts, placement } = fitting
  const moved = {
    person: movePerson(person, window, shift),
    body: moveBody(body, shift),
    parts: cropParts(parts, window),
    placement: movePlacement(placement, shift),
  }
  return { fitting: moved, view: cropView(view, window, moved.person) }
}

// From the eyes, because hair and face are references for invented regions, or from a raised hand, to the end of the longer of the two
// garments.
function findWindow({ analysed }: View, { person, body, placement }: PlacedGarment, toFeet: boolean): Window {
  const { unit, joints } = body
  const lowest = axisAt(body, Math.max(placement.hem, placement.oldHem, 1.25) + 0.2)
  const points = [...joints.shoulder, ...joints.elbow, ...joints.wrist, ...joints.knuckles, ...placement.target]
  for (const sleeve of placement.sleeves) points.push(...sleeve.outer, ...sleeve.inner)
  const xs = points.map(({ x }) => x)
  const x = Math.max(0, Math.floor(Math.min(...xs) - 0.3 * unit))
  const highest = Math.min(...points.map((point) => point.y)) - 0.3 * unit
  const y = Math.max(0, Math.floor(Math.min(person.landmarks.nose.y - 0.35 * unit, highest)))
  const right = Math.min(analysed.width, Math.ceil(Math.max(...xs) + 0.3 * unit))
  const reach = Math.ceil(Math.max(lowest.y, ...points.map((point) => point.y + 0.15 * unit)))
  const bottom = toFeet ? analysed.height : Math.min(analysed.height, reach)
  return { x, y, width: Math.max(1, right - x), height: Math.max(1, bottom - y) }
}

type Shift = (point: Point) => Point

function movePerson(person: Person, window: Window, shift: Shift): Person {
  return {
    ...person,
    ...movePoints(person, shift),
    mask: cropPlane(person.mask, window),
    box: { ...person.box, ...shift(person.box) },
  }
}

function moveBody(body: BodyFrame, shift: Shift): BodyFrame {
  const both = ([left, right]: readonly [Point, Point]) => [shift(left), shift(right)] as const
  const { shoulder, elbow, wrist, hip, knee, ankle, knuckles } = body.joints
  return {
    ...body,
    joints: {
      shoulder: both(shoulder),
      elbow: both(elbow),
      wrist: both(wrist),
      hip: both(hip),
      knee: both(knee),
      ankle: both(ankle),
      knuckles: both(knuckles),
    },
    shoulders: shift(body.shoulders),
    hips: shift(body.hips),
    shoulderTip: both(body.shoulderTip),
    restingTip: both(body.restingTip),
  }
}

function cropParts(parts: Parts, window: Window): Parts {
  return {
    ...parts,
    skin: cropMask(parts.skin, window),
    top: cropMask(parts.top, window),
    lower: cropMask(parts.lower, window),
    hair: cropMask(parts.hair, window),
    along: cropPlane(parts.along, window),
    across: cropPlane(parts.across, window),
    lab: cropColours(parts.lab, window),
  }
}

function movePlacement(placement: Placement, shift: Shift): Placement {
  const arms = placement.arms.map((arm) => ({ ...arm, points: arm.points.map(shift) }))
  return {
    ...placement,
    target: placement.target.map(shift),
    tips: [shift(placement.tips[0]), shift(placement.tips[1])],
    armpits: [shift(placement.armpits[0]), shift(placement.armpits[1])],
    neckCorners: [shift(placement.neckCorners[0]), shift(placement.neckCorners[1])],
    neckline: placement.neckline.map(shift),
    openFront: placement.openFront && [placement.openFront[0].map(shift), placement.openFront[1].map(shift)],
    hemCorners: [shift(placement.hemCorners[0]), shift(placement.hemCorners[1])],
    arms: [arms[0], arms[1]],
    sleeves: placement.sleeves.map((sleeve) => ({
      ...sleeve,
      target: sleeve.target.map((row) => row.map(shift)),
      profile: arms[sleeve.side],
      outer: sleeve.outer.map(shift),
      inner: sleeve.inner.map(shift),
    })),
  }
}

// The drawn bitmap's window is rounded to whole px: off by at most half a px.
function cropView(view: View, window: Window, person: Person): View {
  const { box, scale } = view
  const x = Math.round(window.x * scale)
  const y = Math.round(window.y * scale)
  const inside: Rectangle = {
    x,
    y,
    width: Math.min(view.drawn.width - x, Math.round(window.width * scale)),
    height: Math.min(view.drawn.height - y, Math.round(window.height * scale)),
  }
  return {
    box: { ...inside, x: box.x + x, y: box.y + y },
    drawn: cropBitmap(view.drawn, inside),
    analysed: cropBitmap(view.analysed, window),
    person,
    scale,
  }
}
