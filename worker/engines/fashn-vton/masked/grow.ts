import { maskWhere } from '../../../vision/raster/mask.ts'
import type { Mask } from '../../../vision/raster/plane.ts'

/** Distances by which a set pixel spreads, in px. */
export interface Spread {
  readonly left: number
  readonly right: number
  readonly up: number
  readonly down: number
}

/** Dilates with a rectangle. */
export function growRectangle(mask: Mask, { left, right, up, down }: Spread): Mask {
  const { width, height } = mask
  const across = spreadLines(mask, { lines: height, length: width, step: 1, next: width, back: left, ahead: right })
  return spreadLines(across, { lines: width, length: height, step: width, next: 1, back: up, ahead: down })
}

/** Dilates with OpenCV's elliptic element of (2 · radius + 1)² px. */
export function growEllipse(mask: Mask, radius: number): Mask {
  const { width, height } = mask
  const out = new Uint8Array(width * height)
  for (let dy = -radius; dy <= radius; dy++) {
    const half = Math.round(Math.sqrt(radius * radius - dy * dy))
    const row = growRectangle(mask, { left: half, right: half, up: 0, down: 0 })
    const [first, last] = [Math.max(0, -dy), Math.min(height, height - dy)]
    for (let i = first * width; i < last * width; i++) out[i + dy * width] |= row.data[i]
  }
  return { width, height, data: out }
}

interface Lines {
  readonly lines: number
  readonly length: number
  /** Offset from one pixel of a line to the next, and from one line to the next. */
  readonly step: number
  readonly next: number
  readonly back: number
  readonly ahead: number
}

function spreadLines({ width, height, data }: Mask, { lines, length, step, next, back, ahead }: Lines): Mask {
  const out = new Uint8Array(data.length)
  for (let line = 0; line < lines; line++) {
    for (let at = 0, last = -Infinity; at < length; at++) {
      if (data[line * next + at * step]) last = at
      if (at - last <= ahead) out[line * next + at * step] = 1
    }
    for (let at = length - 1, last = Infinity; at >= 0; at--) {
      if (data[line * next + at * step]) last = at
      if (last - at <= back) out[line * next + at * step] = 1
    }
  }
  return { width, height, data: out }
}

/** Pixels that are not reachable from the upper left pixel without crossing the mask; all pixels if that pixel is in the mask. */
export function fillFromCorner(mask: Mask): Mask {
  const { width, height, data } = mask
  const outside = new Uint8Array(data.length)
  const queue = data[0] ? [] : [0]
  if (!data[0]) outside[0] = 1
  const visit = (i: number) => {
    if (data[i] || outside[i]) return
    outside[i] = 1
    queue.push(i)
  }
  for (let i = queue.pop(); i !== undefined; i = queue.pop()) {
    const x = i % width
    if (x > 0) visit(i - 1)
    if (x < width - 1) visit(i + 1)
    if (i >= width) visit(i - width)
    if (i < width * (height - 1)) visit(i + width)
  }
  return maskWhere(mask, (i) => outside[i] === 0)
}
