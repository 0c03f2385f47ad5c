import { type DecodedHeic, HeicRefusal } from './heic-bitmap.ts'

/** Tiling of a stored image, in px. An image without tiling has one tile. */
export interface Tiling {
  readonly columns: number
  readonly rows: number
  readonly tileWidth: number
  readonly tileHeight: number
  /** Tiles may extend beyond the image on the right and at the bottom. */
  readonly width: number
  readonly height: number
}

export interface Tile {
  readonly column: number
  readonly row: number
}

export type Side = 'left' | 'top' | 'right' | 'bottom'

/** What a file shows of a stored image: a rectangle of it, in px, rotated and mirrored. */
export interface View {
  readonly left: number
  readonly top: number
  readonly width: number
  readonly height: number
  /** The sides of the stored image that are shown at the left, the top, the right and the bottom. */
  readonly sides: readonly [Side, Side, Side, Side]
}

/** Whether the width of the stored image is shown as the height. */
export function isLying({ sides: [left] }: View): boolean {
  return left === 'top' || left === 'bottom'
}

/** @throws HeicRefusal when a tile is completely outside of the image: decoding it would be wasted. */
export function assertTiles({ columns, rows, tileWidth, tileHeight, width, height }: Tiling): void {
  const isSeen = (tiles: number, size: number, shown: number) => size > 0 && (tiles - 1) * size < shown
  if (isSeen(columns, tileWidth, width) && isSeen(rows, tileHeight, height)) return
  throw new HeicRefusal('damaged', 'Tiles are outside of the image')
}

/** Tiles that contain pixels of the view. */
export function* tilesIn({ columns, rows, tileWidth, tileHeight }: Tiling, view: View): Generator<Tile> {
  const [firstRow, firstColumn] = [Math.floor(view.top / tileHeight), Math.floor(view.left / tileWidth)]
  for (let row = firstRow; row < rows && row * tileHeight < view.top + view.height; row++) {
    for (let column = firstColumn; column < columns && column * tileWidth < view.left + view.width; column++)
      yield { column, row }
  }
}

/** Divisor of the sides that leaves at least `pixels` pixels and whole pixels in every tile. */
export function reductionOf({ tileWidth, tileHeight }: Tiling, { width, height }: View, pixels: number): number {
  let factor = 1
  const fits = (by: number) => [tileWidth, tileHeight].every((length) => length % by === 0)
  while (fits(2 * factor) && (width * height) / (2 * factor) ** 2 >= pixels) factor *= 2
  return factor
}

/** The view in an image that is reduced by `factor`: only pixels that lie in the view as a whole. */
export function reducedView(view: View, factor: number): View {
  const [left, top] = [Math.ceil(view.left / factor), Math.ceil(view.top / factor)]
  const width = Math.floor((view.left + view.width) / factor) - left
  const height = Math.floor((view.top + view.height) / factor) - top
  return { ...view, left, top, width, height }
}

export interface Place {
  /** Coordinates of the tile in the view, in reduced px. */
  readonly x: number
  readonly y: number
  readonly factor: number
  readonly view: View
}

/** Copies the part of the tile that the view shows, each pixel the mean of `factor` × `factor` pixels. */
export function placeTile(bitmap: DecodedHeic, tile: DecodedHeic, { x, y, factor, view }: Place): void {
  const { channels } = bitmap
  const { origin, right, down } = strideOf(view, bitmap.width)
  const lastColumn = Math.min(tile.width / factor, view.width - x)
  for (let row = Math.max(0, -y); row < Math.min(tile.height / factor, view.height - y); row++) {
    const from = Math.max(0, -x)
    const start = (origin + (y + row) * down + (x + from) * right) * channels
    if (factor === 1 && right === 1) {
      const part = tile.data.subarray((row * tile.width + from) * channels, (row * tile.width + lastColumn) * channels)
      bitmap.data.set(part, start)
    } else copyRow(bitmap.data, tile, { start, step: right * channels, row, from, to: lastColumn, factor })
  }
}

/** Offset of the first pixel of the view in the bitmap, and of its neighbours to the right and below, in px. */
function strideOf({ sides: [left, top], width, height }: View, rowLength: number) {
  let [origin, right, down] = [0, 0, 0]
  for (const [side, unit] of [
    [left, 1],
    [top, rowLength],
  ] as const) {
    if (side === 'left') right = unit
    if (side === 'top') down = unit
    if (side === 'right') [origin, right] = [origin + (width - 1) * unit, -unit]
    if (side === 'bottom') [origin, down] = [origin + (height - 1) * unit, -unit]
  }
  return { origin, right, down }
}

interface Row {
  readonly start: number
  readonly step: number
  readonly row: number
  readonly from: number
  readonly to: number
  readonly factor: number
}

function copyRow(
  out: Uint8Array,
  { width, channels, data }: DecodedHeic,
  { start: first, step, row, from, to, factor }: Row,
): void {
  const count = factor * factor
  for (let column = from, at = first; column < to; column++, at += step) {
    for (let c = 0; c < channels; c++) {
      let sum = count >> 1
      for (let dy = 0; dy < factor; dy++) {
        const start = ((row * factor + dy) * width + column * factor) * channels + c
        for (let dx = 0; dx < factor; dx++) sum += data[start + dx * channels]
      }
      out[at + c] = Math.floor(sum / count)
    }
  }
}
