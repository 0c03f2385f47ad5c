import type { Rectangle } from '../../../api/shared/image/image.ts'
import { type Bytes, createBytes } from '../../vision/raster/bytes.ts'
import type { Size } from '../../vision/raster/plane.ts'
import { enlargeLanczos, reduceArea, resizeNearest } from './resize-canvas.ts'
import { resizeLanczos } from './resize-lanczos.ts'

/** Fill value of hidden regions: the middle of the model's range. */
export const HIDDEN = 127

/** Limits the longer side of the bitmap to the canvas height, for pose detection and drawing. Never enlarges. */
export function limitToCanvas(image: Bytes, canvas: Size): Bytes {
  const scale = Math.min(1, Math.min(canvas.height / image.width, canvas.height / image.height))
  return scale === 1 ? image : resizeLanczos(image, truncated(image, scale))
}

/** Position of the bitmap on the canvas, filling the canvas in one direction, in whole px of the canvas. */
export function placeOnCanvas(image: Size, canvas: Size): Rectangle {
  const scale = Math.min(canvas.width / image.width, canvas.height / image.height)
  const { width, height } = truncated(image, scale)
  return { x: (canvas.width - width) >> 1, y: (canvas.height - height) >> 1, width, height }
}

/** Centres the bitmap on a black canvas. With `exact`, resampling introduces no new values. */
export function fitOnCanvas(image: Bytes, canvas: Size, { exact = false } = {}): Bytes {
  const place = placeOnCanvas(image, canvas)
  const resized = resize(image, place, exact)
  const out = createBytes(canvas, image.channels)
  const stride = place.width * image.channels
  for (let y = 0; y < place.height; y++) {
    const to = ((place.y + y) * canvas.width + place.x) * image.channels
    out.data.set(resized.data.subarray(y * stride, (y + 1) * stride), to)
  }
  return out
}

// Truncated, not rounded, as in the model's own pre-processing: a side can be one pixel shorter.
function truncated({ width, height }: Size, scale: number): Size {
  return { width: Math.max(1, Math.trunc(scale * width)), height: Math.max(1, Math.trunc(scale * height)) }
}

function resize(image: Bytes, place: Size, exact: boolean): Bytes {
  if (place.width === image.width && place.height === image.height) return image
  if (exact) return resizeNearest(image, place)
  return place.width > image.width || place.height > image.height
    ? enlargeLanczos(image, place)
    : reduceArea(image, place)
}
