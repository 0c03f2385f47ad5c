import type { Point, Size } from '../raster/plane.ts'
import { clamp } from '../raster/statistics.ts'
import type { Box } from './person.ts'

// Padding around the box in per cent of its height; integers, because 1000 × 1.14 is more than 1140 in floating point.
const ABOVE = 10
const BELOW = 4
const BESIDE = 8
// In a frame too small for the padded box: max headroom as a share of the rectangle's height.
const MAX_HEADROOM = 0.25
// Vertical position of the crop in a photo without a person: 0 keeps the top, 0.5 the middle.
const UPPER_BIAS = 0.25

/**
 * The 4:5 rectangle of the frame that shows the person: whole px, inside the frame, 4n × 5n px except in frames smaller than 4 × 5.
 * Pads the person's box by shares of its height (10 % above, 4 % below, 8 % per side). Centres the smallest rectangle that contains
 * the padded box on it and shifts the rectangle into the frame. If the frame is too small, uses the largest rectangle that fits, from
 * the top of the padded box downwards, and shifts it sideways until `head`, if given, is in its middle half.
 */
export function cropAroundPerson({ x, y, width, height }: Box, frame: Size, head?: Point): Box {
  const paddedWidth = (100 * width + 2 * BESIDE * height) / 100
  const paddedHeight = ((100 + ABOVE + BELOW) * height) / 100
  const wanted = Math.max(1, Math.ceil(Math.max(paddedWidth / 4, paddedHeight / 5)))
  const largest = largestPortrait(frame)
  const fits = 4 * wanted <= largest.width && 5 * wanted <= largest.height
  const size = fits ? { width: 4 * wanted, height: 5 * wanted } : largest
  const above = (ABOVE * height) / 100
  const centred = x + (width - size.width) / 2
  if (fits) return placeInFrame(frame, size, { x: centred, y: y - above + (paddedHeight - size.height) / 2 })
  const toHead = head === undefined ? centred : clamp(centred, head.x - 0.75 * size.width, head.x - 0.25 * size.width)
  return placeInFrame(frame, size, { x: toHead, y: y - Math.min(above, MAX_HEADROOM * size.height) })
}

/** The largest 4:5 rectangle of the frame: centred horizontally, and with a quarter of the spare height above it. */
export function cropWithoutPerson(frame: Size): Box {
  const size = largestPortrait(frame)
  return placeInFrame(frame, size, {
    x: (frame.width - size.width) / 2,
    y: (frame.height - size.height) * UPPER_BIAS,
  })
}

function largestPortrait({ width, height }: Size): Size {
  const n = Math.floor(Math.min(width / 4, height / 5))
  return n > 0 ? { width: 4 * n, height: 5 * n } : { width: Math.min(width, 4), height: Math.min(height, 5) }
}

function placeInFrame(frame: Size, size: Size, { x, y }: { x: number; y: number }): Box {
  return {
    x: clamp(Math.round(x), 0, frame.width - size.width),
    y: clamp(Math.round(y), 0, frame.height - size.height),
    ...size,
  }
}
