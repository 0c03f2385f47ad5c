import { type CollarEdges, RAYS, radiusAt, STEPS } from './collar-edges.ts'

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
