import { type Colours, createPlane, mapChannels, type Plane, sumOf } from './plane.ts'
import { resizeBilinear } from './sample.ts'

/**
 * Fills pixels of weight 0 smoothly from those with weight (push-pull, Gortler et al. 1996): averages weighted colours down
 * a pyramid and interpolates upwards where no value is known. Returns colours of the same size and channels.
 */
export function fillSmoothly(colours: Colours, weight: Plane): Colours {
  const weights = weightPyramid(weight)
  return mapChannels(colours, (plane) => {
    for (let i = 0; i < plane.data.length; i++) plane.data[i] *= weight.data[i]
    return pull(plane, weights)
  })
}

function weightPyramid(weight: Plane): Plane[] {
  const levels = [weight]
  for (let top = weight; Math.min(top.width, top.height) > 1; ) {
    top = halve(top)
    levels.push(top)
  }
  return levels
}

function pull(weighted: Plane, weights: readonly Plane[]): Plane {
  const levels = [weighted]
  for (let k = 1; k < weights.length; k++) levels.push(halve(levels[k - 1]))
  const coarsest = levels[levels.length - 1]
  const totalWeight = sumOf(weights[weights.length - 1])
  const mean = totalWeight > 1e-9 ? sumOf(coarsest) / totalWeight : 0
  let known = createPlane(coarsest, mean)
  for (let k = levels.length - 1; k >= 0; k--)
    known = merge(levels[k], weights[k], k === levels.length - 1 ? known : resizeBilinear(known, levels[k]))
  return known
}

// A cell that is known to at least a quarter keeps its own colour; below that the coarser level gradually replaces it.
function merge(level: Plane, weight: Plane, coarse: Plane): Plane {
  const out = createPlane(level)
  for (let i = 0; i < out.data.length; i++) {
    const w = weight.data[i]
    if (w < 1e-3) {
      out.data[i] = coarse.data[i]
      continue
    }
    const trust = Math.min(1, w * 4)
    out.data[i] = (level.data[i] / w) * trust + coarse.data[i] * (1 - trust)
  }
  return out
}

// 1-3-3-1 reduction by two around the middle of each pair, border replicated: symmetric, and smooth enough to avoid
// block edges on the way back up.
const TAPS = [1 / 8, 3 / 8, 3 / 8, 1 / 8]

function halve({ width, height, data }: Plane): Plane {
  const w = (width + 1) >> 1
  const h = (height + 1) >> 1
  const rows = new Float32Array(w * height)
  for (let y = 0; y < height; y++) {
    halveRow(data.subarray(y * width, (y + 1) * width), rows.subarray(y * w, (y + 1) * w))
  }
  const out = new Float32Array(w * h)
  for (let y = 0; y < h; y++) {
    for (let k = 0; k < 4; k++) {
      const from = Math.min(Math.max(2 * y + k - 1, 0), height - 1) * w
      for (let x = 0; x < w; x++) out[y * w + x] += TAPS[k] * rows[from + x]
    }
  }
  return { width: w, height: h, data: out }
}

function halveRow(row: Float32Array, out: Float32Array): void {
  const last = row.length - 1
  for (let x = 0; x < out.length; x++) {
    const a = 2 * x
    const before = TAPS[0] * row[a > 0 ? a - 1 : 0] + TAPS[1] * row[a]
    out[x] = before + TAPS[2] * row[a < last ? a + 1 : last] + TAPS[3] * row[a + 1 < last ? a + 2 : last]
  }
}
