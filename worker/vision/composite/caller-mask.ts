import type { Rectangle } from '../../../api/shared/image/image.ts'
import { maskWhere } from '../raster/mask.ts'
import type { Bitmap, Mask, Plane, Size } from '../raster/plane.ts'
import { revertChange } from './revert-change.ts'

/** The caller's mask: of any size, in the aspect ratio of the whole photo. Its white pixels may change. */
export interface CallerMask {
  readonly bitmap: Bitmap
  /** Size of the whole photo. */
  readonly frame: Size
  /** The part of the photo that the engine received, in px of the whole photo; null for all of it. */
  readonly crop: Rectangle | null
}

// In px of the change: width of the margin inside the region that stays unchanged if the change is smaller than the photo, because
// resampling mixes neighbouring pixels, and width over which the change fades in.
const MARGIN = 2
const EDGE = 3

/** Reverts in place the change outside the region that may change: pixels of the photo that touch a black pixel stay as they are. */
export function keepOutside(change: Plane, mask: CallerMask): void {
  const { width } = mask.crop ?? mask.frame
  const margin = change.width === width ? 0 : Math.max(MARGIN, Math.ceil(change.width / width))
  revertChange(change, keptPixels(change, mask), { window: { ...change, x: 0, y: 0 }, margin, edge: EDGE })
}

/** The pixels of a plane of this size over the crop that touch a black pixel of the mask. */
function keptPixels({ width, height }: Size, { bitmap, frame, crop }: CallerMask): Mask {
  const part = crop ?? { x: 0, y: 0, ...frame }
  const columns = spans([part.x, part.width], width, [frame.width, bitmap.width])
  const rows = spans([part.y, part.height], height, [frame.height, bitmap.height])
  const touchesBlack = ([left, right]: Span, [top, bottom]: Span) => {
    for (let y = top; y < bottom; y++)
      for (let x = left; x < right; x++) if (bitmap.data[(y * bitmap.width + x) * bitmap.channels] < 128) return true
    return false
  }
  return maskWhere({ width, height }, (i) => touchesBlack(columns[i % width], rows[Math.floor(i / width)]))
}

type Span = readonly [first: number, end: number]

// For each of `count` equal parts of a range of the photo: the first pixel of the mask that it touches, and that after the last.
function spans(
  [from, length]: readonly [from: number, length: number],
  count: number,
  [whole, max]: readonly [photo: number, mask: number],
): Span[] {
  const scale = max / whole
  // Parts that end at the border of a pixel do not touch the next one, also with rounding errors.
  const TOUCH = 1e-6
  return Array.from({ length: count }, (_, i) => {
    const start = (from + (i * length) / count) * scale
    const end = (from + ((i + 1) * length) / count) * scale
    const first = Math.min(max - 1, Math.floor(start + TOUCH))
    return [first, Math.max(first + 1, Math.min(max, Math.ceil(end - TOUCH)))]
  })
}
