import type { Window } from '../../../vision/raster/crop.ts'
import type { Mask, Point, Size } from '../../../vision/raster/plane.ts'
import { type BackwardMap, createBackwardMap } from '../../../vision/raster/remap.ts'
import { fitThinPlate } from '../../../vision/raster/thin-plate.ts'
import { SPLINE_SLACK } from './tuning.ts'

export interface TorsoMap extends BackwardMap {
  /** Share of the torso that is folded over, 0 to 1. */
  readonly folded: number
  /** Source px per output px in the middle of the torso. */
  readonly reduction: number
}

/**
 * Maps output pixels around `target` back to the source by a thin-plate spline. The spline is smooth, so it is
 * evaluated every `step` px only. `torso` marks the source pixels of the torso.
 */
export function mapTorso(
  { source, target }: { source: readonly Point[]; target: readonly Point[] },
  { margin, step, size, torso }: { margin: number; step: number; size: Size; torso: Mask },
): TorsoMap {
  const map = createBackwardMap(target, margin, size)
  const nodes = evaluateNodes(fitThinPlate(target, source, SPLINE_SLACK), map.box, step)
  interpolateNodes(nodes, map, step)
  return { ...map, ...measureCells(nodes, torso, step) }
}

interface Nodes extends Size {
  x: Float64Array
  y: Float64Array
}

function evaluateNodes(spline: (point: Point) => Point, box: Window, step: number): Nodes {
  const width = Math.ceil(box.width / step) + 1
  const height = Math.ceil(box.height / step) + 1
  const nodes = { width, height, x: new Float64Array(width * height), y: new Float64Array(width * height) }
  for (let row = 0, i = 0; row < height; row++) {
    for (let column = 0; column < width; column++, i++) {
      const { x, y } = spline({ x: box.x + column * step, y: box.y + row * step })
      nodes.x[i] = x
      nodes.y[i] = y
    }
  }
  return nodes
}

function interpolateNodes(nodes: Nodes, { box, x, y }: BackwardMap, step: number): void {
  const levelX = new Float64Array(nodes.width)
  const levelY = new Float64Array(nodes.width)
  for (let row = 0, i = 0; row < box.height; row++) {
    interpolateLevel(nodes, row / step, { levelX, levelY })
    for (let column = 0; column < box.width; column++, i++) {
      const cell = Math.floor(column / step)
      const share = column / step - cell
      x[i] = levelX[cell] + (levelX[cell + 1] - levelX[cell]) * share
      y[i] = levelY[cell] + (levelY[cell + 1] - levelY[cell]) * share
    }
  }
}

// Positions of all nodes at a height between two rows of nodes.
function interpolateLevel(
  { width, x, y }: Nodes,
  height: number,
  { levelX, levelY }: { levelX: Float64Array; levelY: Float64Array },
): void {
  const upper = Math.floor(height) * width
  const share = height - Math.floor(height)
  for (let i = 0; i < width; i++) {
    levelX[i] = x[upper + i] + (x[upper + width + i] - x[upper + i]) * share
    levelY[i] = y[upper + i] + (y[upper + width + i] - y[upper + i]) * share
  }
}

// Checks the determinant of the map in every cell whose centre shows the torso: negative where the cloth is folded over.
function measureCells(
  { width, height, x, y }: Nodes,
  torso: Mask,
  step: number,
): Pick<TorsoMap, 'folded' | 'reduction'> {
  const areas: number[] = []
  for (let row = 0; row + 1 < height; row++) {
    for (let column = 0; column + 1 < width; column++) {
      const [a, b] = [row * width + column, row * width + column + 1]
      const [c, d] = [a + width, b + width]
      const u = Math.round((x[a] + x[b] + x[c] + x[d]) / 4)
      const v = Math.round((y[a] + y[b] + y[c] + y[d]) / 4)
      if (u < 0 || v < 0 || u >= torso.width || v >= torso.height || !torso.data[v * torso.width + u]) continue
      areas.push(((x[d] - x[a]) * (y[c] - y[b]) - (x[c] - x[b]) * (y[d] - y[a])) / 2)
    }
  }
  if (areas.length === 0) return { folded: 1, reduction: 1 }
  const typical = areas.toSorted((p, q) => p - q)[areas.length >> 1]
  return {
    folded: areas.filter((area) => area <= 0).length / areas.length,
    reduction: Math.sqrt(Math.abs(typical)) / step,
  }
}
