import type { Size } from '../raster/plane.ts'
import type { Region } from './region.ts'

// Shares of the longer side of the bitmap; each step detects people of about two thirds of the previous size.
const SHARES = [0.6, 0.4]
const MIN_OVERLAP = 0.4
// Tiles smaller than the detector's input show no more detail than the whole bitmap.
const MIN_SIDE = 224
const MAX_TILES = 16

/**
 * Overlapping squares that cover the bitmap, in sets from large to small: squares of the shorter side if the bitmap is clearly not
 * square, then smaller squares. Skips sets of more than 16 squares (of very long bitmaps).
 */
export function tilesOfBitmap({ width, height }: Size): Region[][] {
  const longer = Math.max(width, height)
  const shorter = Math.min(width, height)
  const sides = SHARES.map((share) => share * longer)
  if (shorter < 0.85 * longer && shorter > 1.15 * sides[0]) sides.unshift(shorter)
  return sides
    .filter((side) => side >= MIN_SIDE)
    .map((side) =>
      centres(height, side)
        .flatMap((y) => centres(width, side).map((x) => ({ x, y })))
        .map((centre) => ({ centre, side, angle: 0 })),
    )
    .filter((tiles) => tiles.length <= MAX_TILES)
}

// Centres of the min number of pieces for the overlap, evenly spaced from end to end.
function centres(length: number, side: number): number[] {
  if (side >= length) return [(length - 1) / 2]
  const count = Math.ceil((length / side - 1) / (1 - MIN_OVERLAP)) + 1
  return Array.from({ length: count }, (_, i) => (side - 1) / 2 + (i * (length - side)) / (count - 1))
}
