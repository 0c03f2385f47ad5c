import type { Point, Size } from '../../../vision/raster/plane.ts'
import { type BackwardMap, createBackwardMap } from '../../../vision/raster/remap.ts'
import type { PointGrid } from '../fit/patch.ts'

export interface MeshMap extends BackwardMap {
  /** Position across the mesh per pixel of the box: −1 in the first column, 1 in the last, NaN outside. */
  readonly across: Float32Array
  /** Share of the mesh's area that is folded over: 0 if all triangles have the same orientation, at most ½. */
  readonly folded: number
}

/**
 * Maps the pixels of a target grid back to the source grid: each cell is two triangles, each triangle an affine map.
 * Later rows are in front of earlier rows.
 */
export function mapMesh(source: PointGrid, target: PointGrid, size: Size): MeshMap {
  const map = createBackwardMap(target.flat(), 1, size)
  const canvas = { ...map, across: new Float32Array(map.x.length).fill(Number.NaN) }
  let upright = 0
  let turned = 0
  for (const triangle of trianglesOf(source, target)) {
    const area = doubleArea(triangle)
    if (area > 0) upright += area
    else turned -= area
    if (Math.abs(area) > 1e-3) drawTriangle(canvas, triangle)
  }
  return { ...canvas, folded: Math.min(upright, turned) / Math.max(1e-6, upright + turned) }
}

interface Vertex {
  at: Point
  /** Source x, source y, across. */
  value: readonly [number, number, number]
}

function trianglesOf(source: PointGrid, target: PointGrid): Vertex[][] {
  const vertices = target.map((points, row) =>
    points.map((at, column): Vertex => {
      const { x, y } = source[row][column]
      return { at, value: [x, y, (2 * column) / (points.length - 1) - 1] }
    }),
  )
  return vertices.slice(1).flatMap((lower, row) => {
    const upper = vertices[row]
    return lower.slice(1).flatMap((corner, column) => [
      [upper[column], upper[column + 1], corner],
      [upper[column], corner, lower[column]],
    ])
  })
}

function doubleArea([a, b, c]: readonly Vertex[]): number {
  return (b.at.x - a.at.x) * (c.at.y - a.at.y) - (c.at.x - a.at.x) * (b.at.y - a.at.y)
}

type Canvas = Omit<MeshMap, 'folded'>

function drawTriangle(canvas: Canvas, triangle: readonly Vertex[]): void {
  const { box } = canvas
  const planes = [0, 1, 2].map((channel) => planeThrough(triangle, channel))
  const ys = triangle.map(({ at }) => at.y)
  const top = Math.max(box.y, Math.ceil(Math.min(...ys) - REACH))
  const bottom = Math.min(box.y + box.height - 1, Math.floor(Math.max(...ys) + REACH))
  for (let y = top; y <= bottom; y++) {
    const [from, to] = spanOf(triangle, y)
    const row = (y - box.y) * box.width - box.x
    const first = Math.max(box.x, Math.ceil(from - REACH))
    const last = Math.min(box.x + box.width - 1, Math.floor(to + REACH))
    for (let x = first; x <= last; x++) {
      canvas.x[row + x] = planes[0].x * x + planes[0].y * y + planes[0].constant
      canvas.y[row + x] = planes[1].x * x + planes[1].y * y + planes[1].constant
      canvas.across[row + x] = planes[2].x * x + planes[2].y * y + planes[2].constant
    }
  }
}

// Triangles extend over their edges by this many px, so that rounding leaves no gaps between neighbours.
const REACH = 0.02

interface LinearFunction {
  x: number
  y: number
  constant: number
}

// The linear function of x and y that has the vertices' values.
function planeThrough(triangle: readonly Vertex[], channel: number): LinearFunction {
  const [a, b, c] = triangle
  const area = doubleArea(triangle)
  const ab = b.value[channel] - a.value[channel]
  const ac = c.value[channel] - a.value[channel]
  const x = (ab * (c.at.y - a.at.y) - ac * (b.at.y - a.at.y)) / area
  const y = (ac * (b.at.x - a.at.x) - ab * (c.at.x - a.at.x)) / area
  return { x, y, constant: a.value[channel] - x * a.at.x - y * a.at.y }
}

// First and last x of the triangle in row y.
function spanOf(triangle: readonly Vertex[], y: number): [number, number] {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (let i = 0; i < 3; i++) {
    const a = triangle[i].at
    const b = triangle[(i + 1) % 3].at
    if (Math.min(a.y, b.y) > y + REACH || Math.max(a.y, b.y) < y - REACH) continue
    const t = a.y === b.y ? 0 : Math.min(Math.max((y - a.y) / (b.y - a.y), 0), 1)
    const x = a.x + t * (b.x - a.x)
    from = Math.min(from, x, a.y === b.y ? b.x : x)
    to = Math.max(to, x, a.y === b.y ? b.x : x)
  }
  return [from, to]
}
