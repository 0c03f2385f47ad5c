import type { Bytes } from '../../vision/raster/bytes.ts'
import type { Point } from '../../vision/raster/plane.ts'
import { roundHalfEven } from './rounding.ts'
import { drawDot, drawFixedLine, drawRow, drawThinLine, ONE } from './thin-line.ts'

// The model was trained on skeletons drawn by OpenCV without antialiasing. These functions draw the same pixels.

/** Half-widths of a disc's rows from the centre outwards, by radius in px. */
const DISC_ROWS = { 3: [3, 2, 2, 0], 4: [4, 3, 3, 2, 0] } as const

export function drawDisc(bitmap: Bytes, { x, y }: Point, disc: { radius: 3 | 4; grey: number }): void {
  for (let dy = -disc.radius; dy <= disc.radius; dy++) {
    const half = DISC_ROWS[disc.radius][Math.abs(dy)]
    drawRow(bitmap, y + dy, { left: x - half, right: x + half, grey: disc.grey })
  }
}

export interface Ellipse {
  readonly centre: Point
  /** Half length and half width, in whole px. */
  readonly radii: Point
  /** Whole degrees. */
  readonly angle: number
}

export function drawEllipse(bitmap: Bytes, ellipse: Ellipse, grey: number): void {
  const points = ellipsePoints(ellipse)
  for (const [i, point] of points.entries()) drawThinLine(bitmap, [points.at(i - 1) ?? point, point], grey)
  if (points.length >= 3) {
    const corners = points.map(({ x, y }) => ({ x: x * ONE, y: y * ONE }))
    fillConvex(bitmap, corners, grey)
  }
}

/** The ellipse as a polygon with a corner per degree, in whole px, without duplicates. */
function ellipsePoints({ centre, radii, angle }: Ellipse): Point[] {
  const turn = ((angle % 360) + 360) % 360
  const points: Point[] = []
  for (let degree = 0; degree <= 360; degree++) {
    const x = radii.x * sine(450 - degree)
    const y = radii.y * sine(degree)
    const point = {
      x: roundHalfEven(centre.x + x * sine(450 - turn) - y * sine(turn)),
      y: roundHalfEven(centre.y + x * sine(turn) + y * sine(450 - turn)),
    }
    const last = points.at(-1)
    if (last?.x !== point.x || last?.y !== point.y) points.push(point)
  }
  return points.length > 1 ? points : [centre, centre]
}

/** A line two px wide with round ends, between whole pixels. */
export function drawLine(bitmap: Bytes, [from, to]: readonly [Point, Point], grey: number): void {
  const dx = from.x - to.x
  const dy = to.y - from.y
  if (dx !== 0 || dy !== 0) {
    const scale = ONE / Math.sqrt(dx * dx + dy * dy)
    const x = roundHalfEven(dy * scale)
    const y = roundHalfEven(dx * scale)
    const at = (point: Point, side: 1 | -1) => ({ x: point.x * ONE + side * x, y: point.y * ONE + side * y })
    const corners = [at(from, 1), at(from, -1), at(to, -1), at(to, 1)]
    for (const [i, corner] of corners.entries()) drawFixedLine(bitmap, [corners.at(i - 1) ?? corner, corner], grey)
    fillConvex(bitmap, corners, grey)
  }
  for (const { x, y } of [from, to]) {
    drawRow(bitmap, y, { left: x - 1, right: x + 1, grey })
    drawDot(bitmap, { x, y: y - 1 }, grey)
    drawDot(bitmap, { x, y: y + 1 }, grey)
  }
}

interface Side {
  /** The current corner, and the next corner. */
  corner: number
  readonly direction: number
  x: number
  slope: number
  /** The row of the next corner. */
  end: number
}

/** Fills a convex polygon, with corners in fixed point, row by row between its two sides, which start at the topmost corner. */
function fillConvex(bitmap: Bytes, corners: readonly Point[], grey: number): void {
  const rowOf = ({ y }: Point) => (y + ONE / 2) >> 16
  const top = corners.reduce((best, { y }, i) => (y < corners[best].y ? i : best), 0)
  const bottom = Math.min(Math.max(...corners.map(rowOf)), bitmap.height - 1)
  let y = rowOf(corners[top])
  const sides: Side[] = [1, corners.length - 1].map((direction) => ({
    corner: top,
    direction,
    x: -ONE,
    slope: 0,
    end: y,
  }))
  let left = corners.length
  do {
    for (const side of sides) if (y >= side.end) left = turnCorner(side, { corners, y, left, rowOf })
    const [a, b] = sides[0].x <= sides[1].x ? sides : [sides[1], sides[0]]
    drawRow(bitmap, y, { left: (a.x + ONE / 2) >> 16, right: (b.x + ONE / 2) >> 16, grey })
    for (const side of sides) side.x += side.slope
    y++
  } while (y <= bottom)
}

/** Advances a side to the next corner below row `y`, while `left` corners remain. */
function turnCorner(
  side: Side,
  { corners, y, left, rowOf }: { corners: readonly Point[]; y: number; left: number; rowOf: (corner: Point) => number },
): number {
  let from = side.corner
  let rest = left
  while (rest > 0) {
    rest--
    const to = (from + side.direction) % corners.length
    const end = rowOf(corners[to])
    if (end > y) {
      const rows = end - y
      side.slope = Math.trunc(((corners[to].x - corners[from].x) * 2 + rows) / (2 * rows))
      side.x = corners[from].x
      side.corner = to
      side.end = end
      return rest
    }
    from = to
  }
  return rest
}

/** Sine of whole degrees, with the precision of OpenCV's table. */
function sine(degree: number): number {
  return Math.fround(Number(Math.sin((degree * Math.PI) / 180).toFixed(7)))
}
