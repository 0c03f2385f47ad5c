import { type DecodedHeic, HeicRefusal } from './heic-bitmap.ts'

/** Tiling of an upright image, in px. An image without tiling has one tile. */
export interface Tiling {
  readonly columns: number
  readonly rows: number
  readonly tileWidth: number
  readonly tileHeight: number
  readonly width: number
  readonly height: number
  /** Distance by which the first tile extends beyond the image. */
  readonly top: number
  readonly left: number
}

export interface Tile {
  readonly column: number
  readonly row: number
}

/** @throws HeicRefusal when a tile is completely outside of the image: decoding it would be wasted. */
export function assertTiles({ columns, rows, tileWidth, tileHeight, width, height, top, left }: Tiling): void {
  const isSeen = (tiles: number, size: number, start: number, shown: number) =>
    size > 0 && start < size && (tiles - 1) * size < start + shown
  if (isSeen(columns, tileWidth, left, width) && isSeen(rows, tileHeight, top, height)) return
  throw new HeicRefusal('damaged', 'Tiles are outside of the image')
}

/** Divisor of the sides that leaves at least `pixels` pixels and whole pixels in every tile. */
export function reductionOf({ tileWidth, tileHeight, width, height, top, left }: Tiling, pixels: number): number {
  let factor = 1
  const fits = (by: number) => [tileWidth, tileHeight, top, left].every((length) => length % by === 0)
  while (fits(2 * factor) && (width * height) / (2 * factor) ** 2 >= pixels) factor *= 2
  return factor
}

/**
 * Copies the visible part of the tile, each pixel the mean of `factor` × `factor` pixels. `x` and `y` are coordinates
 * of the unreduced image.
 */
export function placeTile(
  bitmap: DecodedHeic,
  tile: DecodedHeic,
  { x, y, factor }: { x: number; y: number; factor: number },
): void {
  const { channels } = bitmap
  const [left, top] = [x / factor, y / factor]
  const from = Math.max(0, -left)
  const to = Math.min(tile.width / factor, bitmap.width - left)
  for (let row = Math.max(0, -top); row < Math.min(tile.height / factor, bitmap.height - top); row++) {
    const start = ((top + row) * bitmap.width + left) * channels
    if (factor > 1) reduceRow(bitmap.data.subarray(start + from * channels), tile, { row, from, to, factor })
    else {
      const part = tile.data.subarray((row * tile.width + from) * channels, (row * tile.width + to) * channels)
      bitmap.data.set(part, start + from * channels)
    }
  }
}

function reduceRow(
  out: Uint8Array,
  { width, channels, data }: DecodedHeic,
  { row, from, to, factor }: { row: number; from: number; to: number; factor: number },
): void {
  const count = factor * factor
  for (let column = from, i = 0; column < to; column++) {
    for (let c = 0; c < channels; c++, i++) {
      let sum = count >> 1
      for (let dy = 0; dy < factor; dy++) {
        const start = ((row * factor + dy) * width + column * factor) * channels + c
        for (let dx = 0; dx < factor; dx++) sum += data[start + dx * channels]
      }
      out[i] = Math.floor(sum / count)
    }
  }
}
