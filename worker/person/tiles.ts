import type { Size } from '../raster/plane.ts'
import type { Region } from './region.ts'

// Shares of the picture's longer side; each step shows people of about two thirds of the size before.
const SHARES = [0.6, 0.4]
const MIN_OVERLAP = 0.4
// Pieces of fewer px than the detector's input show nothing that the whole picture did not.
const MIN_SIDE = 224
const MAX_TILES = 16

/**
 * Overlapping squares that cover the picture, in sets from large to small: squares of its shorter side if it is clearly not square
 * itself, then smaller ones. Sets of more than 16 squares (of very long pictures) are left out.
 */
export function tilesOfPicture({ width, height }: Size): Region[][] {
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

// Centres of as many pieces as are needed for the overlap, spread evenly from one end to the other.
function centres(length: number, side: number): number[] {
  if (side >= length) return [(length - 1) / 2]
  const count = Math.ceil((length / side - 1) / (1 - MIN_OVERLAP)) + 1
  return Array.from({ length: count }, (_, i) => (side - 1) / 2 + (i * (length - side)) / (count - 1))
}
