import { readFile } from 'node:fs/promises'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import type { LandmarkName } from '../../../../worker/vision/person/person.ts'
import type { Bitmap, Mask, Point, Size } from '../../../../worker/vision/raster/plane.ts'
import { resizeArea } from '../../../../worker/vision/raster/sample.ts'

export const FIGURES = ['apose-full', 'crossed-half', 'heavy-half', 'walk-full'] as const

export const readBitmap = async (path: string): Promise<Bitmap> => decodeImage(await readFile(path))

/** A rendered figure: the image, and its ground truth in px. */
export interface Figure {
  readonly bitmap: Bitmap
  readonly mask: Mask
  readonly box: { left: number; top: number; right: number; bottom: number }
  readonly bodyHeight: number
  /** Joints inside the frame, under the names of the landmarks. */
  readonly joints: readonly (readonly [LandmarkName, Point])[]
}

export async function readFigure(name: (typeof FIGURES)[number]): Promise<Figure> {
  const path = `test/fixtures/persons/${name}`
  const truth: Truth = JSON.parse(await readFile(`${path}.json`, 'utf8'))
  const white = await readBitmap(`${path}-mask.png`)
  const [left, top, right, bottom] = truth.box
  return {
    bitmap: await readBitmap(`${path}.jpg`),
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

export function plainBitmap({ width, height }: Size): Bitmap {
  return { width, height, channels: 3, data: new Uint8Array(width * height * 3).fill(190) }
}

/** Puts the figure, cut out and reduced to `height` px, with the corner of its box at (x, y); what is true about it then. */
export function paste(
  bitmap: Bitmap,
  { bitmap: source, mask, box, joints, bodyHeight }: Figure,
  { height, x, y }: Point & { height: number },
): Pick<Figure, 'joints' | 'bodyHeight'> {
  const scale = height / (box.bottom - box.top)
  const size = { width: Math.round(source.width * scale), height: Math.round(source.height * scale) }
  const colours = resizeArea(source, size)
  const cover = resizeArea({ ...mask, channels: 1 }, size)
  const left = Math.round(x - box.left * scale)
  const top = Math.round(y - box.top * scale)
  for (const [i, share] of cover.entries()) {
    if (share === 0) continue
    const to = ((top + Math.floor(i / size.width)) * bitmap.width + left + (i % size.width)) * 3
    for (let c = 0; c < 3; c++) bitmap.data[to + c] = share * colours[3 * i + c] + (1 - share) * bitmap.data[to + c]
  }
  return {
    bodyHeight: bodyHeight * scale,
    joints: joints.map(([name, point]) => [name, { x: left + point.x * scale, y: top + point.y * scale }]),
  }
}

/** The figure's bitmap after this number of quarter turns clockwise, and its joints there. */
export function turned(
  { bitmap, joints }: Pick<Figure, 'bitmap' | 'joints'>,
  quarters: number,
): Pick<Figure, 'bitmap' | 'joints'> {
  if (quarters === 0) return { bitmap, joints }
  const { width, height, channels, data } = bitmap
  const out = new Uint8Array(data.length)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const from = (y * width + x) * channels
      out.set(data.subarray(from, from + channels), (x * height + height - 1 - y) * channels)
    }
  }
  const once: Pick<Figure, 'bitmap' | 'joints'> = {
    bitmap: { width: height, height: width, channels, data: out },
    joints: joints.map(([name, { x, y }]) => [name, { x: height - 1 - y, y: x }] as const),
  }
  return turned(once, quarters - 1)
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
