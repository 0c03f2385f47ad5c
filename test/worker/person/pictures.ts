import { readFile } from 'node:fs/promises'
import { decodeImage } from '../../../api/shared/image.ts'
import type { LandmarkName } from '../../../worker/person/person.ts'
import type { Bitmap, Mask, Point } from '../../../worker/raster/plane.ts'

export const FIGURES = ['apose-full', 'crossed-half', 'heavy-half', 'walk-full'] as const

export const readPicture = async (path: string): Promise<Bitmap> => decodeImage(await readFile(path))

/** A rendered figure: the picture, and what is true about it in px. */
export interface Figure {
  readonly picture: Bitmap
  readonly mask: Mask
  readonly box: { left: number; top: number; right: number; bottom: number }
  readonly bodyHeight: number
  /** Joints inside the frame, under the names of the landmarks. */
  readonly joints: readonly (readonly [LandmarkName, Point])[]
}

export async function readFigure(name: (typeof FIGURES)[number]): Promise<Figure> {
  const path = `test/fixtures/persons/${name}`
  const truth: Truth = JSON.parse(await readFile(`${path}.json`, 'utf8'))
  const white = await readPicture(`${path}-mask.png`)
  const [left, top, right, bottom] = truth.box
  return {
    picture: await readPicture(`${path}.jpg`),
    mask: {
      width: white.width,
      height: white.height,
      data: Uint8Array.from({ length: white.width * white.height }, (_, i) => +(white.data[i * white.channels] > 127)),
    },
    box: { left, top, right, bottom },
    bodyHeight: truth.height_px,
    joints: LIMBS.filter(([joint]) => truth.joints[joint].inside).map(([joint, landmark]) => [
      landmark,
      truth.joints[joint],
    ]),
  }
}

interface Truth {
  readonly box: [number, number, number, number]
  readonly height_px: number
  readonly joints: Record<string, { x: number; y: number; inside: boolean }>
}

const LIMBS: readonly (readonly [string, LandmarkName])[] = [
  ['left_shoulder', 'leftShoulder'],
  ['right_shoulder', 'rightShoulder'],
  ['left_elbow', 'leftElbow'],
  ['right_elbow', 'rightElbow'],
  ['left_wrist', 'leftWrist'],
  ['right_wrist', 'rightWrist'],
  ['left_hip', 'leftHip'],
  ['right_hip', 'rightHip'],
  ['left_knee', 'leftKnee'],
  ['right_knee', 'rightKnee'],
  ['left_ankle', 'leftAnkle'],
  ['right_ankle', 'rightAnkle'],
]
