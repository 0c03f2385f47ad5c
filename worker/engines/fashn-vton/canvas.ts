import type { Rectangle } from '../../../api/shared/image.ts'
import type { Size } from '../../raster/plane.ts'
import { type Bytes, createBytes } from '../diffusion/bytes.ts'
import { resizeLanczos } from '../diffusion/resize-lanczos.ts'
import { enlargeLanczos, reduceArea, resizeNearest } from './resize-canvas.ts'

/** What the model must not see has this value, the middle of those that it knows. */
export const HIDDEN = 127

/** The picture with at most the canvas's height on its longest side: what poses are found and drawn in. Never enlarged. */
export function limitToCanvas(image: Bytes, canvas: Size): Bytes {
  const scale = Math.min(1, Math.min(canvas.height / image.width, canvas.height / image.height))
  return scale === 1 ? image : resizeLanczos(image, truncated(image, scale))
}

/** Where a picture lies on the canvas when it fills it in one direction, in whole px of the canvas. */
export function placeOnCanvas(image: Size, canvas: Size): Rectangle {
  const scale = Math.min(canvas.width / image.width, canvas.height / image.height)
  const { width, height } = truncated(image, scale)
  return { x: (canvas.width - width) >> 1, y: (canvas.height - height) >> 1, width, height }
}

/** The picture on a black canvas, in the middle; with `exact` no value is there that was not before. */
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

// Truncated and not rounded, as the model's own pre-processing does: a side can come out a pixel short.
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
