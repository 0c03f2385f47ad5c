import type { Bytes } from '../../vision/raster/bytes.ts'
import type { Point } from '../../vision/raster/plane.ts'

/** Fractional bits: 16. */
export const ONE = 65536

/** Fills one row from `left` to `right`, inclusive, clipped to the bitmap. */
export function drawRow({ width, height, data }: Bytes, y: number, row: { left: number; right: number; grey: number }) {
  const left = Math.max(row.left, 0)
  const right = Math.min(row.right, width - 1)
  if (y >= 0 && y < height && left <= right) data.fill(row.grey, y * width + left, y * width + right + 1)
}

export function drawDot({ width, height, data }: Bytes, { x, y }: Point, grey: number): void {
  if (x >= 0 && y >= 0 && x < width && y < height) data[y * width + x] = grey
}

/** A line one px wide between whole pixels: clipped to the bitmap, then drawn from its left end (Bresenham 1965). */
export function drawThinLine(bitmap: Bytes, [from, to]: readonly [Point, Point], grey: number): void {
  const inside = clipLine([from, to], { x: bitmap.width - 1, y: bitmap.height - 1 })
  if (!inside) return
  const [start, end] = inside[1].x < inside[0].x ? [inside[1], inside[0]] : inside
  const dx = end.x - start.x
  const down = end.y >= start.y ? 1 : -1
  const dy = Math.abs(end.y - start.y)
  const flat = dx >= dy
  const [long, short] = flat ? [dx, dy] : [dy, dx]
  let error = long - 2 * short
  for (let i = 0, across = 0; i <= long; i++) {
    drawDot(
      bitmap,
      flat ? { x: start.x + i, y: start.y + down * across } : { x: start.x + across, y: start.y + down * i },
      grey,
    )
    if (error < 0) {
      across++
      error += 2 * long
    }
    error -= 2 * short
  }
}

/** A line one px wide between points in fixed point. */
export function drawFixedLine(bitmap: Bytes, ends: readonly [Point, Point], grey: number): void {
  const inside = clipLine(ends, { x: bitmap.width * ONE - 1, y: bitmap.height * ONE - 1 })
  if (!inside) return
  const flat = Math.abs(inside[1].x - inside[0].x) > Math.abs(inside[1].y - inside[0].y)
  const along = (point: Point) => (flat ? point.x : point.y)
  const across = (point: Point) => (flat ? point.y : point.x)
  const [start, end] = along(inside[1]) < along(inside[0]) ? [inside[1], inside[0]] : inside
  const length = along(end) - along(start)
  // An odd divisor is never zero.
  const slope = Math.trunc(((across(end) - across(start)) * ONE) / (length | 1))
  drawDot(bitmap, { x: (end.x + ONE / 2) >> 16, y: (end.y + ONE / 2) >> 16 }, grey)
  const first = (along(start) + ONE / 2) >> 16
  const side = across(start) + ONE / 2
  for (let i = 0; i <= length >> 16; i++) {
    const step = (side + i * slope) >> 16
    drawDot(bitmap, flat ? { x: first + i, y: step } : { x: step, y: first + i }, grey)
  }
}

const LEFT = 1
const RIGHT = 2
const ABOVE = 4
const BELOW = 8

/** Clips a line to the integer range 0 to `max`; null if no part is inside (Cohen and Sutherland). */
function clipLine([from, to]: readonly [Point, Point], max: Point): [Point, Point] | null {
  const sideOf = ({ x, y }: Point) => (x < 0 ? LEFT : x > max.x ? RIGHT : 0) | (y < 0 ? ABOVE : y > max.y ? BELOW : 0)
  const ends: [Point, Point] = [from, to]
  const sides = ends.map(sideOf)
  const open = () => (sides[0] & sides[1]) === 0 && (sides[0] | sides[1]) !== 0
  for (const edge of [ABOVE | BELOW, LEFT | RIGHT]) {
    if (!open()) break
    for (const e of [0, 1]) {
      if ((sides[e] & edge) === 0) continue
      ends[e] = clipEnd(ends, e, { edge, beyond: (sides[e] & edge & (RIGHT | BELOW)) !== 0, max })
      // An end that was clipped at a row can still be left or right of the bitmap, never above or below it.
      sides[e] = edge === (ABOVE | BELOW) ? sideOf(ends[e]) & (LEFT | RIGHT) : 0
    }
  }
  return (sides[0] | sides[1]) === 0 ? ends : null
}

function clipEnd(
  [from, to]: readonly [Point, Point],
  e: number,
  { edge, beyond, max }: { edge: number; beyond: boolean; max: Point },
): Point {
  const end = e === 0 ? from : to
  const dx = to.x - from.x
  const dy = to.y - from.y
  if (edge === (ABOVE | BELOW)) {
    const y = beyond ? max.y : 0
    return { x: end.x + Math.trunc(((y - end.y) * dx) / dy), y }
  }
  const x = beyond ? max.x : 0
  return { x, y: end.y + Math.trunc(((x - end.x) * dy) / dx) }
}
