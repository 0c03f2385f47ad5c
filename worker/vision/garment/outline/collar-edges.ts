import type { Point } from '../../raster/plane.ts'
import { sampleBilinear } from '../../raster/sample.ts'
import { perpendicular, subtract, unit } from '../../raster/vector.ts'
import type { CollarPatch } from '../garment-patch.ts'

/** Rays per half, from 4° below the line between the neck corners to straight down. */
export const RAYS = 30
/** Samples along a ray. */
const STEPS = 144
const FIRST_RADIUS = 0.2
/** Distance between two samples of a ray, over the distance of the neck corners. */
const STEP = 0.0125

/**
 * Gain of each sample of a fan of rays, which start in the middle between the neck corners, as part of the front's upper
 * edge: towards 1 for a clear colour step from a darker inside to the front, negative for the opposite step; mean of both
 * halves.
 */
export interface CollarEdges {
  /** RAYS × STEPS. */
  readonly gain: Float64Array
  /** Mean positive gain over the front, away from the collar: above 0.1 the cloth is patterned. */
  readonly busyness: number
}

/** Distance from the middle between the corners, over the distance of the corners. */
export function radiusAt(step: number): number {
  return FIRST_RADIUS + step * STEP
}

/** Direction of a ray in the right half: `across` towards the right corner, `down` into the garment. */
export function rayDirection(ray: number): { across: number; down: number } {
  const angle = ((4 + (86 * ray) / (RAYS - 1)) * Math.PI) / 180
  return { across: Math.cos(angle), down: Math.sin(angle) }
}

export function measureCollarEdges(patch: CollarPatch): CollarEdges {
  const gain = new Float64Array(RAYS * STEPS)
  const along = unit(subtract(patch.corners[1], patch.corners[0]))
  const down = perpendicular(along)
  for (let ray = 0; ray < RAYS; ray++) {
    const direction = rayDirection(ray)
    for (const side of [-1, 1]) {
      const dx = side * direction.across * along.x + direction.down * down.x
      const dy = side * direction.across * along.y + direction.down * down.y
      addRay(patch, { x: dx, y: dy }, gain.subarray(ray * STEPS, (ray + 1) * STEPS))
    }
  }
  return { gain, busyness: meanPositive(gain) }
}

// Half the distance in px between two compared samples.
const REACH = 1.8
// ΔE of a step with a gain of 0.5: any clear edge counts as much as a strong one.
const HALF_GAIN = 4

function addRay(
  { lab, cover, corners: [left, right], width }: CollarPatch,
  direction: Point,
  gain: Float64Array,
): void {
  const middleX = (left.x + right.x) / 2
  const middleY = (left.y + right.y) / 2
  const before = new Float64Array(3)
  const after = new Float64Array(3)
  for (let step = 0; step < gain.length; step++) {
    const radius = radiusAt(step) * width
    const at = (offset: number, out: Float64Array) => {
      const x = middleX + direction.x * (radius + offset)
      const y = middleY + direction.y * (radius + offset)
      sampleLab(lab, x, y, out)
      return sampleBilinear(cover, x, y)
    }
    if (at(-REACH - 1, before) < 0.9 || at(REACH + 1, after) < 0.9) {
      gain[step] -= 0.5
      continue
    }
    at(-REACH, before)
    at(REACH, after)
    const lighter = after[0] - before[0]
    const difference = Math.sqrt(lighter * lighter + (after[1] - before[1]) ** 2 + (after[2] - before[2]) ** 2)
    const sign = lighter >= -0.2 * difference ? 1 : -0.3
    gain[step] += (0.5 * sign * difference) / (difference + HALF_GAIN)
  }
}

function sampleLab(
  { width, height, data }: { width: number; height: number; data: Float32Array },
  x: number,
  y: number,
  out: Float64Array,
): void {
  const cx = Math.min(Math.max(x, 0), width - 1.001)
  const cy = Math.min(Math.max(y, 0), height - 1.001)
  const fx = cx - (cx | 0)
  const fy = cy - (cy | 0)
  const i = ((cy | 0) * width + (cx | 0)) * 3
  const below = i + width * 3
  for (let c = 0; c < 3; c++) {
    const top = data[i + c] + (data[i + 3 + c] - data[i + c]) * fx
    const bottom = data[below + c] + (data[below + 3 + c] - data[below + c]) * fx
    out[c] = top + (bottom - top) * fy
  }
}

// Not at the collar, where edges are expected.
function meanPositive(gain: Float64Array): number {
  const from = Math.round((0.7 - FIRST_RADIUS) / STEP)
  let sum = 0
  for (let ray = 0; ray < RAYS; ray++) {
    for (let step = from; step < STEPS; step++) sum += Math.max(0, gain[ray * STEPS + step])
  }
  return sum / (RAYS * (STEPS - from))
}

/** A neckline over the fan of rays: one sample per ray. */
export interface CollarPath {
  readonly steps: readonly number[]
  /** Mean gain along the path. */
  readonly gain: number
  /** Radius straight down, over the distance of the neck corners. */
  readonly depth: number
}

// Max number of samples between a path's positions on adjacent rays. A V neck needs a larger outward step.
const MIN_SLOPE = -4
const SLOPES = 14
const MAX_CHANGE = 3
const BEND_COST = 0.25
const NEVER = -1e9

interface Search {
  /** Whether the path may pass through a sample. */
  readonly allowed: (ray: number, step: number) => boolean
  /** Added to the sum of gains, depending on the depth of the path's end. */
  readonly prior: (depth: number) => number
}

/**
 * The path with the highest gain minus a cost per change of slope, by dynamic programming over position and slope; null if
 * `allowed` permits no path. Straight down the path can end in a kink, as a V neck does.
 */
export function bestCollarPath({ gain }: CollarEdges, { allowed, prior }: Search): CollarPath | null {
  let totals = new Float64Array(STEPS * SLOPES).fill(NEVER)
  for (let step = 0; step < STEPS; step++) {
    const radius = radiusAt(step)
    if (radius > 0.36 && radius < 0.6 && allowed(0, step)) totals.fill(gain[step], step * SLOPES, (step + 1) * SLOPES)
  }
  const origins: Int8Array[] = []
  for (let ray = 1; ray < RAYS; ray++) {
    const next = new Float64Array(STEPS * SLOPES).fill(NEVER)
    const origin = new Int8Array(STEPS * SLOPES)
    for (let step = 0; step < STEPS; step++) {
      if (allowed(ray, step)) advance({ totals, next, origin, step, gain: gain[ray * STEPS + step] })
    }
    origins.push(origin)
    totals = next
  }
  return traceBack(gain, { totals, origins, prior })
}

function advance({
  totals,
  next,
  origin,
  step,
  gain,
}: {
  totals: Float64Array
  next: Float64Array
  origin: Int8Array
  step: number
  gain: number
}): void {
  for (let slope = 0; slope < SLOPES; slope++) {
    const from = step - slope - MIN_SLOPE
    if (from < 0 || from >= STEPS) continue
    let best = NEVER
    let bestSlope = slope
    const last = Math.min(SLOPES - 1, slope + MAX_CHANGE)
    for (let before = Math.max(0, slope - MAX_CHANGE); before <= last; before++) {
      const total = totals[from * SLOPES + before] - BEND_COST * Math.abs(before - slope)
      if (total <= best) continue
      best = total
      bestSlope = before
    }
    next[step * SLOPES + slope] = best + gain
    origin[step * SLOPES + slope] = bestSlope
  }
}

function traceBack(
  gain: Float64Array,
  { totals, origins, prior }: { totals: Float64Array; origins: readonly Int8Array[]; prior: Search['prior'] },
): CollarPath | null {
  let best = NEVER / 2
  let state = -1
  for (let i = 0; i < totals.length; i++) {
    const total = totals[i] + prior(radiusAt(Math.floor(i / SLOPES)))
    if (total <= best) continue
    best = total
    state = i
  }
  if (state < 0) return null
  let step = Math.floor(state / SLOPES)
  let slope = state % SLOPES
  const steps = [step]
  for (const origin of origins.toReversed()) {
    const before = origin[step * SLOPES + slope]
    step -= slope + MIN_SLOPE
    slope = before
    steps.unshift(step)
  }
  const sum = steps.reduce((total, place, ray) => total + gain[ray * STEPS + place], 0)
  return { steps, gain: sum / RAYS, depth: radiusAt(steps[RAYS - 1]) }
}
