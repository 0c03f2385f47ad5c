import { deltaE } from './colour.ts'
import { type Colours, createPlane, type Mask, mapChannels, type Plane, type Size } from './plane.ts'
import { findRuns } from './runs.ts'
import { resizeBilinear } from './sample.ts'

/** A smooth bitmap in cells of `factor` × `factor` px. */
export interface Reduced {
  readonly cells: Colours
  readonly factor: number
}

/** One number per pixel. */
interface Values extends Size {
  readonly data: ArrayLike<number>
}

/** Mean of every `factor` × `factor` cell (an integer); cells at the right and bottom edge can be smaller. */
export function reduceByFactor({ width, height, data }: Values, factor: number): Plane {
  const out = createPlane(reducedSize({ width, height }, factor))
  for (let row = 0; row < out.height; row++) {
    const to = row * out.width
    const bottom = Math.min(height, (row + 1) * factor)
    for (let y = row * factor; y < bottom; y++) {
      for (let column = 0, x = y * width; column < out.width; column++) {
        const end = y * width + Math.min(width, (column + 1) * factor)
        let sum = 0
        for (; x < end; x++) sum += data[x]
        out.data[to + column] += sum
      }
    }
    for (let column = 0; column < out.width; column++) {
      const cells = (bottom - row * factor) * (Math.min(width, (column + 1) * factor) - column * factor)
      out.data[to + column] /= cells
    }
  }
  return out
}

/** `reduceByFactor` on every channel. */
export function reduceColoursByFactor(colours: Colours, factor: number): Colours {
  return mapChannels(colours, (plane) => reduceByFactor(plane, factor))
}

/** Mean colour of the pixels of each cell in `mask` (0 if none), and the share of the cell in `mask`, 0 to 1. */
export function reduceMasked(colours: Colours, mask: Mask, factor: number): { colours: Colours; weight: Plane } {
  const { channels } = colours
  const weight = createPlane(reducedSize(colours, factor))
  const out = new Float32Array(weight.data.length * channels)
  const runs = findRuns(mask)
  for (let y = 0; y < mask.height; y++) {
    const to = { row: Math.floor(y / factor) * weight.width, out, weight }
    for (let r = runs.firstOfRow[y]; r < runs.firstOfRow[y + 1]; r++)
      addRun(colours, { y, from: runs.from[r], end: runs.to[r], factor }, to)
  }
  for (let cell = 0; cell < weight.data.length; cell++) {
    const count = weight.data[cell]
    if (count === 0) continue
    weight.data[cell] /= cellArea(cell, colours, factor)
    for (let c = 0; c < channels; c++) out[cell * channels + c] /= count
  }
  return { colours: { width: weight.width, height: weight.height, channels, data: out }, weight }
}

// Adds the pixels of a run to the cells of their row.
function addRun(
  { width, channels, data }: Colours,
  { y, from, end, factor }: { y: number; from: number; end: number; factor: number },
  { row, out, weight }: { row: number; out: Float32Array; weight: Plane },
): void {
  for (let x = from, at = (y * width + from) * channels; x < end; x++) {
    const cell = row + Math.floor(x / factor)
    weight.data[cell]++
    for (let c = 0; c < channels; c++, at++) out[cell * channels + c] += data[at]
  }
}

/** Enlarges `plane` to `size`, the inverse of `reduceByFactor`: bilinear, with aligned cell centres. */
export function enlargeByFactor(plane: Plane, factor: number, size: Size): Plane {
  return factor === 1 ? plane : resizeBilinear(plane, size, 1 / factor)
}

/** ΔE (CIE 1976) between a pixel of the bitmap and the cell of the smooth bitmap at the same position. */
export function difference(colours: Colours, reduced: Reduced, i: number): number {
  return deltaE(colours, i, reduced.cells, cellAt(reduced, colours, i) / 3)
}

/** Index of the cell of pixel `i` in the cells' data, for a bitmap of this size. */
export function cellAt({ cells, factor }: Reduced, { width }: Size, i: number): number {
  const row = Math.floor(Math.floor(i / width) / factor)
  return (row * cells.width + Math.floor((i % width) / factor)) * cells.channels
}

function cellArea(cell: number, { width, height }: Size, factor: number): number {
  const columns = Math.ceil(width / factor)
  const left = (cell % columns) * factor
  const top = Math.floor(cell / columns) * factor
  return Math.min(factor, width - left) * Math.min(factor, height - top)
}

function reducedSize({ width, height }: Size, factor: number): Size {
  return { width: Math.ceil(width / factor), height: Math.ceil(height / factor) }
}
