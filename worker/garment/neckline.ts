import type { Colours, Point } from '../raster/plane.ts'
import { resample } from '../raster/polyline.ts'
import { distance, dot, perpendicular, subtract, unit } from '../raster/vector.ts'
import { nearestIndex } from './chain.ts'
import {
  type CollarCurve,
  type CollarPatch,
  collarPatch,
  colourStep,
  coverOn,
  curvePoints,
  SAMPLES,
} from './collar-patch.ts'

export interface Neckline {
  /** From the left to the right neck corner, 61 points. */
  readonly points: readonly Point[]
  /** False when no edge was found, so that the curve is that of a usual crew neck. */
  readonly found: boolean
  /** Depth over the distance of the neck corners. */
  readonly depth: number
}

interface Scored extends CollarCurve {
  readonly score: number
}

const POWERS = [1, 1.25, 1.6, 2, 2.6, 3.4]
const DEPTH_STEP = 0.025
const USUAL: CollarCurve = { depth: 0.4, power: 2 }
// Depth over width of the outline's own dip from which it is the front neckline, as in an open cardigan.
const OPEN_DIP = 0.42

/**
 * The front neckline: the curve between the neck corners below which the front begins, found as the line that is an edge of
 * colour all along. `image` is premultiplied RGBA, 0 to 255, `corners` the neck corners and `contour` the closed outline in
 * its px.
 */
export function findNeckline(image: Colours, contour: readonly Point[], corners: readonly [Point, Point]): Neckline {
  const rim = upperRim(contour, corners)
  const width = distance(corners[0], corners[1])
  const dip = dipOf(rim, corners) / Math.max(1, width)
  if (dip > OPEN_DIP) return { points: resample(rim, SAMPLES), found: true, depth: dip }
  const patch = collarPatch(image, corners)
  const best = bestCurve(patch)
  const curve = best ?? USUAL
  return { points: snap(patch, curve).map(patch.toImage), found: best !== null, depth: curve.depth }
}

// The part of the outline between the corners that passes over the axis at the top.
function upperRim(contour: readonly Point[], [left, right]: readonly [Point, Point]): Point[] {
  const from = nearestIndex(contour, left)
  const to = nearestIndex(contour, right)
  const count = ((to - from + contour.length) % contour.length) + 1
  return Array.from({ length: count }, (_, k) => contour[(from + k) % contour.length])
}

function dipOf(rim: readonly Point[], [left, right]: readonly [Point, Point]): number {
  const down = perpendicular(unit(subtract(right, left)))
  return rim.reduce((most, p) => Math.max(most, dot(subtract(p, left), down)), 0)
}

// Round necks are up to 0.75 deep; a deeper one must show as a V all along, better than any busy pattern does by chance.
function bestCurve(patch: CollarPatch): CollarCurve | null {
  let round: Scored = { ...USUAL, score: 0 }
  let deep: Scored | null = null
  const deepScores: number[] = []
  for (const power of POWERS) {
    for (let depth = 0.28; depth <= 2.2; depth += DEPTH_STEP) {
      if (depth > 0.75 && (depth <= 1 || power >= 1.7)) continue
      const steps = edgeSteps(patch, { depth, power })
      if (depth <= 0.75) {
        const score = Math.min(...partMeans(steps, 0, 5)) * Math.exp(-(((depth - 0.42) / 0.26) ** 2) / 2)
        if (score > round.score) round = { depth, power, score }
        continue
      }
      const score = deepScore(steps)
      deepScores.push(score.raw)
      if (score.clear && score.raw > (deep?.score ?? 18)) deep = { depth, power, score: score.raw }
    }
  }
  deepScores.sort((a, b) => a - b)
  const chance = deepScores.length === 0 ? 0 : deepScores[deepScores.length >> 1]
  if (deep && deep.score > 1.25 * round.score && deep.score > 3.5 * chance) return deep
  return round.score > 1.2 ? round : null
}

function deepScore(steps: Float64Array): { raw: number; clear: boolean } {
  const parts = partMeans(steps, 2, 12).sort((a, b) => a - b)
  return { raw: parts[0] + 0.3 * parts[3], clear: parts[0] > 5 && parts[3] > 9 }
}

function partMeans(values: Float64Array, skip: number, parts: number): number[] {
  const count = values.length - 2 * skip
  return Array.from({ length: parts }, (_, k) => {
    const from = skip + Math.round((k * count) / parts)
    const to = skip + Math.round(((k + 1) * count) / parts)
    let sum = 0
    for (let i = from; i < to; i++) sum += values[i]
    return sum / Math.max(1, to - from)
  })
}

// The step of colour across the curve at each of its points but the outermost, at most 30; 0 where it leaves the garment.
function edgeSteps(patch: CollarPatch, curve: CollarCurve): Float64Array {
  const { x, y, normalX, normalY } = curvePoints(patch, curve, 0.96)
  const reach = patch.reach
  const steps = new Float64Array(SAMPLES - 6)
  for (let i = 3; i < SAMPLES - 3; i++) {
    const at = (offset: number) => [x[i] + normalX[i] * offset, y[i] + normalY[i] * offset] as const
    if (coverOn(patch, ...at(-1.6 * reach)) <= 0.9 || coverOn(patch, ...at(reach)) <= 0.9) continue
    let most = 0
    for (const middle of [-1.2 * reach, 0, 1.2 * reach]) {
      const step = colourStep(patch, at(middle - reach), at(middle + reach))
      if (step > most) most = step
    }
    steps[i - 3] = Math.min(30, most)
  }
  return steps
}

// Follows the edge around the curve: at each point the offset along the normal with the largest colour step, without jumps
// (dynamic programming), then made symmetric and smooth.
function snap(patch: CollarPatch, curve: CollarCurve): Point[] {
  const { x, y, normalX, normalY } = curvePoints(patch, curve, 1)
  const step = Math.max(0.5, 0.01 * patch.width)
  const reach = Math.floor((0.09 * patch.width) / step)
  const offsets = Float64Array.from({ length: 2 * reach + 1 }, (_, k) => (k - reach) * step)
  const gain = (i: number, offset: number) => {
    const at = (o: number) => [x[i] + normalX[i] * o, y[i] + normalY[i] * o] as const
    const edge = Math.min(35, colourStep(patch, at(offset - patch.reach), at(offset + patch.reach)))
    return edge - 0.01 * ((offset / patch.width) * 100) ** 2
  }
  const path = smooth(symmetric(bestPath(offsets, gain).map((k) => offsets[k])))
  const points = path.map((offset, i) => ({ x: x[i] + normalX[i] * offset, y: y[i] + normalY[i] * offset }))
  points[0] = patch.corners[0]
  points[SAMPLES - 1] = patch.corners[1]
  return points
}

function bestPath(offsets: Float64Array, gain: (sample: number, offset: number) => number): number[] {
  const n = offsets.length
  let total = offsets.map((offset) => gain(0, offset))
  const before: Int32Array[] = []
  for (let i = 1; i < SAMPLES; i++) {
    const next = new Float64Array(n)
    const from = new Int32Array(n)
    for (let k = 0; k < n; k++) {
      let best = k
      for (let j = Math.max(0, k - 2); j <= Math.min(n - 1, k + 2); j++) {
        if (total[j] - 1.5 * Math.abs(j - k) > total[best] - 1.5 * Math.abs(best - k)) best = j
      }
      from[k] = best
      next[k] = total[best] - 1.5 * Math.abs(best - k) + gain(i, offsets[k])
    }
    before.push(from)
    total = next
  }
  let last = total.indexOf(Math.max(...total))
  const path = [last]
  for (const from of before.toReversed()) {
    last = from[last]
    path.push(last)
  }
  return path.reverse()
}

function symmetric(values: readonly number[]): number[] {
  return values.map((v, i) => (v + values[values.length - 1 - i]) / 2)
}

function smooth(values: readonly number[]): number[] {
  const sigma = 2.5
  return values.map((_, i) => {
    let sum = 0
    let weights = 0
    for (let k = -8; k <= 8; k++) {
      const j = Math.min(Math.max(i + k, 0), values.length - 1)
      const weight = Math.exp((-k * k) / (2 * sigma * sigma))
      sum += weight * values[j]
      weights += weight
    }
    return sum / weights
  })
}
