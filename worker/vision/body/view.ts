import { cropBitmap, type Rectangle, resizeBitmap } from '../../../api/shared/image/image.ts'
import { copyRgb } from '../composite/blend.ts'
import type { PersonLabels } from '../person/parse.ts'
import { movePoints, type Person } from '../person/person.ts'
import { cropPlane } from '../raster/crop.ts'
import { type Bitmap, createPlane, type Plane, type Point } from '../raster/plane.ts'
import { resizeAreaPlane } from '../raster/sample.ts'
import { pointAtSize } from '../raster/vector.ts'
import { axisAt, type BodyKeypoints, measureKeypoints } from './keypoints.ts'

/** The part of a photo that a garment can change, in two resolutions. */
export interface View {
  /** Position in the frame, in px of the frame. */
  readonly box: Rectangle
  /** In the resolution of the frame; garments are drawn on this bitmap. */
  readonly drawn: Bitmap
  /** Max 600 px per side; all measurements use this bitmap. */
  readonly analysed: Bitmap
  /** In px of `analysed`. */
  readonly person: Person
  /** px of `drawn` per px of `analysed`. */
  readonly scale: number
}

/** Px of the analysed bitmap: max per side, and per body unit, which is enough for all measurements; but at least half of the resolution. */
const ANALYSED = { side: 600, unit: 132, scale: 2 } as const

/** The view of the person's upper body (with `long`: of the whole person) with a margin of background. */
export async function createView(frame: Bitmap, person: Person, { long }: { long: boolean }): Promise<View> {
  const keypoints = measureKeypoints(person)
  const box = findBox(frame, person, { keypoints, long })
  const drawn = cropBitmap(frame, box)
  const enough = Math.min(ANALYSED.scale, keypoints.unit / ANALYSED.unit)
  const scale = Math.max(1, enough, Math.max(box.width, box.height) / ANALYSED.side)
  const analysed =
    scale === 1
      ? drawn
      : await resizeBitmap(drawn, { width: Math.round(box.width / scale), height: Math.round(box.height / scale) })
  return { box, drawn, analysed, person: movePerson(person, { box, analysed }), scale }
}

function findBox(
  frame: Bitmap,
  person: Person,
  { keypoints, long }: { keypoints: BodyKeypoints; long: boolean },
): Rectangle {
  const { elbow, wrist, knuckles, hip } = keypoints.joints
  const spread = 0.5 * keypoints.unit
  const points: Point[] = [...keypoints.joints.shoulder, ...elbow, ...wrist, ...knuckles, ...hip]
  if (long) points.push(...keypoints.joints.knee, ...keypoints.joints.ankle)
  const bottom = long ? person.box.y + person.box.height : axisAt(keypoints, 1.9).y
  const left = Math.max(0, Math.floor(Math.min(...points.map(({ x }) => x)) - spread))
  const right = Math.min(frame.width, Math.ceil(Math.max(...points.map(({ x }) => x)) + spread))
  const top = Math.max(0, Math.floor(person.box.y - 0.1 * keypoints.unit))
  const lowest = Math.max(bottom, ...points.map(({ y }) => y + 0.3 * keypoints.unit))
  const end = Math.min(frame.height, Math.ceil(lowest))
  return { x: left, y: top, width: Math.max(1, right - left), height: Math.max(1, end - top) }
}

function movePerson(person: Person, { box, analysed }: { box: Rectangle; analysed: Bitmap }): Person {
  const scaleX = analysed.width / box.width
  const scaleY = analysed.height / box.height
  const move = (point: Point) => pointAtSize({ x: point.x - box.x, y: point.y - box.y }, { x: scaleX, y: scaleY })
  const { x, y } = move(person.box)
  return {
    ...person,
    ...movePoints(person, move, scaleX),
    mask: resizeAreaPlane(cropPlane(person.mask, box), analysed),
    box: { x, y, width: person.box.width * scaleX, height: person.box.height * scaleY },
  }
}

/** Labels of the frame in px of the analysed bitmap. */
export function labelsInView({ box, analysed }: View, { box: all, shares }: PersonLabels): PersonLabels {
  const [x, y] = [analysed.width / box.width, analysed.height / box.height]
  const moved = { x: (all.x - box.x) * x, y: (all.y - box.y) * y, width: all.width * x, height: all.height * y }
  return { box: moved, shares }
}

/** The person's bounds in px of the drawn bitmap. */
export function boxInView({ person: { box }, scale }: View): Rectangle {
  return { x: box.x * scale, y: box.y * scale, width: box.width * scale, height: box.height * scale }
}

/** Converts points of the analysed bitmap to px of the frame. */
export function toFrame({ box, scale }: View, points: Readonly<Record<string, Point>>): Record<string, Point> {
  const move = ({ x, y }: Point) => ({ x: (x + 0.5) * scale - 0.5 + box.x, y: (y + 0.5) * scale - 0.5 + box.y })
  return Object.fromEntries(Object.entries(points).map(([name, point]) => [name, move(point)]))
}

/** Pastes the result, drawn in the view, back into the frame. */
export function pasteView(
  frame: Bitmap,
  { box }: View,
  { image, change }: { image: Bitmap; change: Plane },
): { image: Bitmap; change: Plane } {
  const out = copyRgb(frame)
  const share = createPlane(frame)
  for (let row = 0; row < box.height; row++) {
    const to = (box.y + row) * frame.width + box.x
    out.data.set(image.data.subarray(row * box.width * 3, (row + 1) * box.width * 3), to * 3)
    share.data.set(change.data.subarray(row * box.width, (row + 1) * box.width), to)
  }
  return { image: out, change: share }
}
