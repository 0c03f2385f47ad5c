import type { Box } from '../../person/person.ts'
import { boundsOf } from '../../raster/crop.ts'
import { type Mask, maskToPlane, type Plane, type Point, sumOf } from '../../raster/plane.ts'
import { resizeAreaPlane } from '../../raster/sample.ts'
import { norm } from '../../raster/vector.ts'

export interface Symmetry {
  /** Rotation of the shape from upright, in degrees, counter-clockwise on the screen. */
  readonly angle: number
  /** A point on the axis, in px of the mask. */
  readonly centre: Point
  /** Overlap of the shape with its mirror image, 0 to 1. */
  readonly score: number
}

interface Candidate {
  readonly angle: number
  /** Offset of the axis to the right of the centroid, in px of the downscaled shape. */
  readonly shift: number
  readonly score: number
}

const SEARCH_SIDE = 128
const MAX_DEGREES = 28

/** The axis, within 28° of upright, with the best overlap of the mask and its mirror image. */
export function findSymmetry(mask: Mask): Symmetry {
  const scale = Math.min(1, SEARCH_SIDE / Math.max(mask.width, mask.height))
  const shape = resizeAreaPlane(maskToPlane(mask), {
    width: Math.max(1, Math.round(mask.width * scale)),
    height: Math.max(1, Math.round(mask.height * scale)),
  })
  const centroid = centroidOf(shape)
  const coarse: number[] = []
  for (let angle = -MAX_DEGREES; angle <= MAX_DEGREES; angle += 4) coarse.push(angle)
  let best = bestOf(shape, centroid, { angles: coarse, about: 0, reach: 7, step: 2 })
  for (const step of [2, 1, 0.5]) {
    const angles = [best.angle - step, best.angle, best.angle + step]
    best = bestOf(shape, centroid, { angles, about: best.shift, reach: 2, step: 0.5 })
  }
  const radians = (best.angle * Math.PI) / 180
  const toMask = mask.width / shape.width
  return {
    angle: best.angle,
    score: best.score,
    centre: {
      x: (centroid.x + best.shift * Math.cos(radians) + 0.5) * toMask - 0.5,
      y: (centroid.y - best.shift * Math.sin(radians) + 0.5) * (mask.height / shape.height) - 0.5,
    },
  }
}

function bestOf(
  shape: Plane,
  centroid: Point,
  { angles, about, reach, step }: { angles: readonly number[]; about: number; reach: number; step: number },
): Candidate {
  let best: Candidate = { angle: 0, shift: 0, score: -1 }
  for (const angle of angles) {
    const upright = measure(turnUpright(shape, centroid, angle))
    for (let shift = about - reach; shift <= about + reach; shift += step) {
      const score = mirrorOverlap(upright, shift)
      if (score > best.score) best = { angle, shift, score }
    }
  }
  return best
}

/** A turned shape with the bounds and the sum of its values. */
interface Turned {
  readonly plane: Plane
  readonly box: Box
  readonly sum: number
}

function measure(plane: Plane): Turned {
  const box = boundsOf(plane) ?? { x: 0, y: 0, width: 0, height: 0 }
  return { plane, box, sum: sumOf(plane) }
}

// The shape rotated back by `angle` about its centroid, which becomes the middle of the result.
function turnUpright(shape: Plane, centroid: Point, angle: number): Plane {
  const half = Math.ceil(norm(shape.width, shape.height) / 2) + 8
  const side = 2 * half + 1
  const data = new Float32Array(side * side)
  const cos = Math.cos((angle * Math.PI) / 180)
  const sin = Math.sin((angle * Math.PI) / 180)
  const { width, height } = shape
  for (let y = -half; y <= half; y++) {
    for (let x = -half; x <= half; x++) {
      const u = centroid.x + x * cos + y * sin
      const v = centroid.y - x * sin + y * cos
      if (u < 0 || v < 0 || u >= width - 1 || v >= height - 1) continue
      const i = (v | 0) * width + (u | 0)
      const fx = u - (u | 0)
      const fy = v - (v | 0)
      const top = shape.data[i] + (shape.data[i + 1] - shape.data[i]) * fx
      const bottom = shape.data[i + width] + (shape.data[i + width + 1] - shape.data[i + width]) * fx
      data[(y + half) * side + x + half] = top + (bottom - top) * fy
    }
  }
  return { width: side, height: side, data }
}

// Intersection over union of the shape and its mirror image; `shift` in half px from the middle column.
function mirrorOverlap({ plane: { width, data }, box, sum }: Turned, shift: number): number {
  const mirror = width - 1 + Math.round(2 * shift)
  // Columns whose mirror image is inside the box: all others have nothing in common with it.
  const first = Math.max(box.x, mirror - (box.x + box.width - 1))
  const end = Math.min(box.x + box.width, mirror - box.x + 1)
  let common = 0
  for (let y = box.y; y < box.y + box.height; y++) {
    const row = y * width
    for (let x = first; x < end; x++) common += Math.min(data[row + x], data[row + mirror - x])
  }
  return common / Math.max(1e-6, 2 * sum - common)
}

function centroidOf({ width, height, data }: Plane): Point {
  let sum = 0
  let sumX = 0
  let sumY = 0
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i++) {
      sum += data[i]
      sumX += data[i] * x
      sumY += data[i] * y
    }
  }
  return { x: sumX / Math.max(1e-6, sum), y: sumY / Math.max(1e-6, sum) }
}
