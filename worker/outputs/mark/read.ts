import { type Bitmap, type Rectangle, resizeBitmap } from '../../../api/shared/image/image.ts'
import { type MarkModels, toTensor } from './mark-models.ts'
import { decodeMarkId } from './payload.ts'
import { cutOut, findMarkedRegion } from './region.ts'

/** Place of an image in the image that it was cut out of, as shares of the width and height of that. */
interface Frame {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

export const WHOLE: Frame = { x: 0, y: 0, width: 1, height: 1 }

/** Shares of a side that a crop may have left. */
const CROPS = [0.95, 0.9]
/** Share of the cut-off part that was on the left or at the top. */
const ANCHORS = [0.5, 0, 1]

/** Frames to try: the whole image, and crops of both sides or of one. */
const FRAMES: readonly Frame[] = [
  WHOLE,
  ...CROPS.flatMap((share) =>
    ANCHORS.flatMap((along) => ANCHORS.map((down) => frameOf({ share, along }, { share, along: down }))),
  ),
  ...CROPS.flatMap((share) =>
    ANCHORS.flatMap((along) => [
      frameOf({ share, along }, { share: 1, along: 0 }),
      frameOf({ share: 1, along: 0 }, { share, along }),
    ]),
  ),
]

interface Side {
  readonly share: number
  readonly along: number
}

function frameOf(horizontal: Side, vertical: Side): Frame {
  return {
    x: horizontal.along * (1 - horizontal.share),
    y: vertical.along * (1 - vertical.share),
    width: horizontal.share,
    height: vertical.share,
  }
}

/** More px do not help: a mark is as coarse as the square of its encoder. */
const MAX_SIDE = 1024

/**
 * Reads the ID of the image's mark; null if it has none. Also finds the mark of an image of which up to 10 % of the width, the height or
 * both were cut off, at one or both ends. Runs the decoder up to 31 times. 2 in 100,000 images without a mark yield an ID by chance.
 */
export async function readMark(bitmap: Bitmap, models: MarkModels): Promise<string | null> {
  const reduced = await limitSide(bitmap)
  for (const frame of FRAMES) {
    const id = await readFrame(reduced, frame, models)
    if (id !== null) return id
  }
  return null
}

/** The bitmap, or a reduced copy if it is larger than helps to read a mark. */
export async function limitSide(bitmap: Bitmap): Promise<Bitmap> {
  const isLarge = Math.max(bitmap.width, bitmap.height) > MAX_SIDE
  return isLarge ? resizeBitmap(bitmap, { longest: MAX_SIDE }, { kernel: 'linear' }) : bitmap
}

/** Reads the ID of an image that was cut out in this way. */
export async function readFrame(bitmap: Bitmap, frame: Frame, models: MarkModels): Promise<string | null> {
  return decodeMarkId(await models.decode(toTensor(await toSquare(bitmap, frame, models))))
}

/** The marked region of the image that this one was cut out of, as the decoder takes it. Missing parts repeat the edge. */
async function toSquare(bitmap: Bitmap, frame: Frame, { variant, decoderSide: side }: MarkModels): Promise<Bitmap> {
  const original = {
    width: Math.round(bitmap.width / frame.width),
    height: Math.round(bitmap.height / frame.height),
  }
  const region = findMarkedRegion(original, { isSquare: variant === 'P' })
  const offset = { x: Math.round(frame.x * original.width), y: Math.round(frame.y * original.height) }
  const there = overlap({ ...region, x: region.x - offset.x, y: region.y - offset.y }, bitmap)
  const scale = { x: side / region.width, y: side / region.height }
  const at = {
    x: Math.round((there.x + offset.x - region.x) * scale.x),
    y: Math.round((there.y + offset.y - region.y) * scale.y),
  }
  const part = await resizeBitmap(
    cutOut(bitmap, there),
    {
      width: Math.min(side - at.x, Math.max(1, Math.round(there.width * scale.x))),
      height: Math.min(side - at.y, Math.max(1, Math.round(there.height * scale.y))),
    },
    { kernel: 'linear' },
  )
  return part.width === side && part.height === side ? part : extend(part, at, side)
}

function overlap(region: Rectangle, { width, height }: Bitmap): Rectangle {
  const x = Math.max(0, region.x)
  const y = Math.max(0, region.y)
  return {
    x,
    y,
    width: Math.min(width, region.x + region.width) - x,
    height: Math.min(height, region.y + region.height) - y,
  }
}

function extend(part: Bitmap, at: { readonly x: number; readonly y: number }, side: number): Bitmap {
  const { channels } = part
  const data = new Uint8Array(side * side * channels)
  const within = (value: number, end: number) => Math.min(end - 1, Math.max(0, value))
  for (let y = 0; y < side; y++) {
    const row = within(y - at.y, part.height) * part.width
    for (let x = 0; x < side; x++) {
      const from = (row + within(x - at.x, part.width)) * channels
      for (let c = 0; c < channels; c++) data[(y * side + x) * channels + c] = part.data[from + c]
    }
  }
  return { width: side, height: side, channels, data }
}
