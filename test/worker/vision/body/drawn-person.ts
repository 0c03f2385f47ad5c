import { measureBody } from '../../../../worker/vision/body/body-frame.ts'
import { findParts, type Parts } from '../../../../worker/vision/body/parts.ts'
import { LABELS, type Label, type PersonLabels } from '../../../../worker/vision/person/parse.ts'
import { LANDMARKS, type Landmark, type LandmarkName, type Person } from '../../../../worker/vision/person/person.ts'
import { maskWhere } from '../../../../worker/vision/raster/mask.ts'
import { type Bitmap, type Mask, maskToPlane, type Point, type Size } from '../../../../worker/vision/raster/plane.ts'
import { fillCapsules, fillPolygon } from '../../../../worker/vision/raster/polygon.ts'
import { resizeAreaPlane } from '../../../../worker/vision/raster/sample.ts'
import { keep } from '../../../support/vision.ts'

export type Colour = readonly [number, number, number]

export const COLOURS = {
  background: [205, 205, 210],
  skin: [205, 150, 125],
  top: [40, 110, 120],
  lower: [60, 60, 70],
  hair: [60, 40, 30],
} as const satisfies Record<string, Colour>

const SIZE: Size = { width: 480, height: 720 }
const CENTRE = 240
const SHOULDER = { x: 60, y: 200 }
const HIP = { x: 36, y: 360 }

export const ARM_RADIUS = 18

/** Half width in px of the drawn torso, armpits to thighs. */
export const TORSO_HALF_WIDTH = 66

/** Offsets of elbow and wrist from the shoulder joint in px, for the photo's right arm; the left one mirrors it. */
export interface Pose {
  readonly elbow: Point
  readonly wrist: Point
}

export const ARMS_AWAY: Pose = { elbow: { x: 58, y: 66 }, wrist: { x: 112, y: 128 } }
export const ARMS_BENT: Pose = { elbow: { x: 70, y: 50 }, wrist: { x: 62, y: 130 } }

export interface DrawnPerson {
  readonly person: Person
  readonly photo: Bitmap
  /** What was drawn last at every pixel of the person. */
  readonly drawn: Readonly<Record<'skin' | 'top' | 'lower' | 'hair', Mask>>
}

/** The parts in a drawn photo, whatever is painted over the figure: cloth in a colour of its own is a top. */
export function partsOf(
  photo: Bitmap,
  person: Person,
  { body = measureBody(person), labels = labelsOf(photo) } = {},
): Parts {
  return findParts(photo, person, { body, parsed: labels })
}

const PAINTED: Partial<Record<Label, Colour>> = {
  background: COLOURS.background,
  arms: COLOURS.skin,
  bottom: COLOURS.lower,
  hair: COLOURS.hair,
}
const GRID = { width: 64, height: 96 }

/** What a parser that errs nowhere finds in a drawn photo; `labelAt` names the labels of pixels. */
export function labelsOf(photo: Bitmap, labelAt: (i: number) => Label = labelByColour(photo)): PersonLabels {
  const labels = Array.from({ length: photo.width * photo.height }, (_, i) => labelAt(i))
  const shareOf = (label: Label) => resizeAreaPlane(maskToPlane(maskWhere(photo, (i) => labels[i] === label)), GRID)
  const shares = Object.fromEntries(LABELS.map((label) => [label, shareOf(label)])) as PersonLabels['shares']
  return { box: { x: 0, y: 0, width: photo.width, height: photo.height }, shares }
}

function labelByColour({ channels, data }: Bitmap): (i: number) => Label {
  const apart = (i: number, colour: Colour) => Math.hypot(...colour.map((value, c) => value - data[i * channels + c]))
  return (i) => LABELS.find((label) => PAINTED[label] && apart(i, PAINTED[label]) < 3) ?? 'top'
}

/** A frontal figure with a sleeveless top, symmetric about x = 240, whose masks and landmarks are known exactly. */
export function drawPerson(pose: Pose = ARMS_AWAY, colours: Colours = {}): DrawnPerson {
  return drawOnce({ pose, colours })
}

type Colours = Partial<Record<keyof typeof COLOURS, Colour>>

const drawOnce = keep(JSON.stringify, draw)

function draw({ pose, colours }: { pose: Pose; colours: Colours }): DrawnPerson {
  const landmarks = placeLandmarks(pose)
  const layers = drawLayers(landmarks)
  const drawn = visibleParts(layers)
  const body = maskWhere(SIZE, (i) => layers.some(({ mask }) => mask.data[i] === 1))
  const palette = { ...COLOURS, ...colours }
  const person: Person = {
    landmarks,
    face: null,
    hands: [],
    mask: maskToPlane(body),
    box: { x: 0, y: 60, width: SIZE.width, height: 660 },
    score: 0.9,
    presence: 1,
    people: 1,
  }
  return { person, photo: paint(drawn, palette), drawn }
}

function placeLandmarks({ elbow, wrist }: Pose): Record<LandmarkName, Landmark> {
  const half: Partial<Record<string, Point>> = {
    EyeInner: { x: 6, y: 112 },
    Eye: { x: 13, y: 112 },
    EyeOuter: { x: 19, y: 112 },
    Ear: { x: 33, y: 116 },
    mouth: { x: 10, y: 142 },
    Shoulder: SHOULDER,
    Elbow: { x: SHOULDER.x + elbow.x, y: SHOULDER.y + elbow.y },
    Wrist: { x: SHOULDER.x + wrist.x, y: SHOULDER.y + wrist.y },
    Pinky: { x: SHOULDER.x + wrist.x + 4, y: SHOULDER.y + wrist.y + 18 },
    Index: { x: SHOULDER.x + wrist.x - 4, y: SHOULDER.y + wrist.y + 20 },
    Thumb: { x: SHOULDER.x + wrist.x - 8, y: SHOULDER.y + wrist.y + 12 },
    Hip: HIP,
    Knee: { x: 38, y: 530 },
    Ankle: { x: 38, y: 690 },
    Heel: { x: 38, y: 705 },
    FootIndex: { x: 44, y: 710 },
  }
  const place = (name: LandmarkName): Landmark => {
    const part = name.startsWith('mouth') ? 'mouth' : name.replace(/^(left|right)/, '')
    const { x, y } = half[part] ?? { x: 0, y: 124 }
    const side = name.startsWith('left') || name === 'mouthLeft' ? 1 : -1
    return { x: CENTRE + (name === 'nose' ? 0 : side * x), y, z: 0, visibility: 1, presence: 1 }
  }
  return Object.fromEntries(LANDMARKS.map((name) => [name, place(name)])) as Record<LandmarkName, Landmark>
}

interface Layer {
  part: 'skin' | 'top' | 'lower' | 'hair'
  mask: Mask
}

function drawLayers(landmarks: Record<LandmarkName, Landmark>): Layer[] {
  const at = (name: LandmarkName): Point => landmarks[name]
  const limb = (names: LandmarkName[], radii: number[]) => fillCapsules(SIZE, names.map(at), radii)
  const arm = [ARM_RADIUS, ARM_RADIUS, 0.7 * ARM_RADIUS, 0.6 * ARM_RADIUS]
  const polygon = (points: readonly (readonly [number, number])[]) =>
    fillPolygon(SIZE, [
      ...points.map(([x, y]) => ({ x: CENTRE + x, y })),
      ...points.toReversed().map(([x, y]) => ({ x: CENTRE - x, y })),
    ])
  const w = TORSO_HALF_WIDTH
  return [
    {
      part: 'skin',
      mask: polygon([
        [18, 130],
        [20, 180],
        [60, 183],
      ]),
    },
    {
      part: 'lower',
      mask: polygon([
        [w, 370],
        [w, 470],
        [58, 715],
        [20, 715],
        [4, 470],
        [0, 470],
      ]),
    },
    {
      part: 'top',
      mask: polygon([
        [20, 181],
        [62, 184],
        [w, 250],
        [w, 385],
      ]),
    },
    { part: 'skin', mask: limb(['rightShoulder', 'rightElbow', 'rightWrist', 'rightIndex'], arm) },
    { part: 'skin', mask: limb(['leftShoulder', 'leftElbow', 'leftWrist', 'leftIndex'], arm) },
    {
      part: 'hair',
      mask: fillCapsules(
        SIZE,
        [
          { x: CENTRE, y: 96 },
          { x: CENTRE, y: 104 },
        ],
        [36, 36],
      ),
    },
    {
      part: 'skin',
      mask: fillCapsules(
        SIZE,
        [
          { x: CENTRE, y: 124 },
          { x: CENTRE, y: 134 },
        ],
        [29, 26],
      ),
    },
  ]
}

function visibleParts(layers: readonly Layer[]): DrawnPerson['drawn'] {
  const top = (i: number) => layers.findLast(({ mask }) => mask.data[i] === 1)?.part
  const part = (name: Layer['part']) => maskWhere(SIZE, (i) => top(i) === name)
  return { skin: part('skin'), top: part('top'), lower: part('lower'), hair: part('hair') }
}

function paint(drawn: DrawnPerson['drawn'], palette: Readonly<Record<string, Colour>>): Bitmap {
  const data = new Uint8Array(SIZE.width * SIZE.height * 3)
  for (let i = 0; i < SIZE.width * SIZE.height; i++) {
    const part = (['skin', 'top', 'lower', 'hair'] as const).find((name) => drawn[name].data[i] === 1) ?? 'background'
    data.set(palette[part], 3 * i)
  }
  return { ...SIZE, channels: 3, data }
}
