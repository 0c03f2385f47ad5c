import { connectedComponents } from '../../raster/components.ts'
import { close } from '../../raster/morphology.ts'
import { createMask, type Mask } from '../../raster/plane.ts'
import { between, distance, perpendicular, subtract, unit } from '../../raster/vector.ts'
import type { CollarPatch } from '../garment-patch.ts'

/** The label inside the back of a collar. Lengths are over the distance of the neck corners. */
export interface CollarLabel {
  /** Half its width. */
  readonly half: number
  /** Its lower end below the corners. */
  readonly bottom: number
}

// Over the distance of the neck corners: the region beside the axis, and the cloth beside it at the same height.
const REGION = { half: 0.3, top: -0.2, bottom: 0.66 } as const
const FLANK = { from: 0.32, until: 0.42 } as const
// Min ΔE from the cloth beside it.
const DIFFERENT = 9
// Gap between the letters of a printed label.
const LETTERS = 0.03
// Limits of a label: its half width, its height, and the lowest position of its upper and lower end.
// A print on the chest starts below.
const LABEL = { half: [0.05, 0.24], height: [0.05, 0.42], top: 0.36, bottom: 0.6 } as const

/** Finds the label in the middle of the inside of the back; null if there is none. The front starts below it. */
export function findCollarLabel({ lab, cover, corners, width }: CollarPatch): CollarLabel | null {
  const middle = between(...corners, 0.5)
  const along = unit(subtract(corners[1], corners[0]))
  const down = perpendicular(along)
  // A grid whose columns run across the axis and whose rows run down.
  const size = { width: Math.round(2 * FLANK.until * width), height: Math.round((REGION.bottom - REGION.top) * width) }
  const colourAt = (column: number, row: number): readonly [number, number, number] | null => {
    const x = column - FLANK.until * width
    const y = row + REGION.top * width
    const at = {
      x: Math.round(middle.x + along.x * x + down.x * y),
      y: Math.round(middle.y + along.y * x + down.y * y),
    }
    if (at.x < 0 || at.y < 0 || at.x >= lab.width || at.y >= lab.height) return null
    const i = at.y * lab.width + at.x
    return cover.data[i] < 0.9 ? null : [lab.data[3 * i], lab.data[3 * i + 1], lab.data[3 * i + 2]]
  }
  const odd = findOdd(size, colourAt, width)
  const found = connectedComponents(close(odd, LETTERS * width)).components.map((part) => ({
    half: (part.right - part.left) / 2 / width,
    height: (part.bottom - part.top) / width,
    top: part.top / width + REGION.top,
    bottom: part.bottom / width + REGION.top,
  }))
  return found.find(isLabel) ?? null
}

interface Part {
  readonly half: number
  readonly height: number
  readonly top: number
  readonly bottom: number
}

function isLabel({ half, height, top, bottom }: Part): boolean {
  const isIn = (value: number, [least, most]: readonly [number, number]) => value >= least && value <= most
  return isIn(half, LABEL.half) && isIn(height, LABEL.height) && top < LABEL.top && bottom < LABEL.bottom
}

// Pixels of the region that differ from the cloth beside the region at the same height.
function findOdd(
  size: { width: number; height: number },
  colourAt: (column: number, row: number) => readonly [number, number, number] | null,
  width: number,
): Mask {
  const odd = createMask(size)
  const columns = Array.from({ length: size.width }, (_, column) => column)
  const aside = (column: number) => Math.abs(column / width - FLANK.until)
  for (let row = 0; row < size.height; row++) {
    const flanks = [-1, 1].map((side) => {
      const beside = columns.filter(
        (column) => Math.sign(column / width - FLANK.until) === side && aside(column) > FLANK.from,
      )
      return medianColour(beside.map((column) => colourAt(column, row)))
    })
    for (const column of columns) {
      if (aside(column) > REGION.half) continue
      const colour = colourAt(column, row)
      if (!colour || flanks.some((flank) => !flank || apart(flank, colour) < DIFFERENT)) continue
      odd.data[row * size.width + column] = 1
    }
  }
  return odd
}

type Lab = readonly [number, number, number]

function medianColour(colours: readonly (Lab | null)[]): Lab | null {
  const seen = colours.filter((colour) => colour !== null)
  if (seen.length < colours.length / 2 || seen.length === 0) return null
  const middle = (channel: 0 | 1 | 2) =>
    seen.map((colour) => colour[channel]).toSorted((a, b) => a - b)[seen.length >> 1]
  return [middle(0), middle(1), middle(2)]
}

function apart(a: Lab, b: Lab): number {
  return distance({ x: a[1], y: a[2] }, { x: b[1], y: b[2] }) + Math.abs(a[0] - b[0])
}
