import { type ColourModel, createCosts } from '../raster/colour-model.ts'
import type { Colours, Mask, Plane } from '../raster/plane.ts'
import { WAISTLINE } from './tuning.ts'

/**
 * Body coordinate F at which the lower garment begins in the middle of the torso, from `WAISTLINE.from` on: the row that best separates the
 * colours of the chest from those of the thighs. Null if both have the same colours, or no row separates them clearly.
 */
export function findWaistline(
  { lab, along, across }: { lab: Colours; along: Plane; across: Plane },
  {
    mask,
    hidden,
    top,
    lower,
    skin,
  }: { mask: Plane; hidden: Mask; top: ColourModel; lower: ColourModel; skin: ColourModel },
): number | null {
  if (top.length === 0 || lower.length === 0) return null
  const costs = createCosts([skin, top, lower])
  const cost = new Float64Array(3)
  const sums = new Float64Array(WAISTLINE.rows)
  const counts = new Float64Array(WAISTLINE.rows)
  for (let i = 0; i < mask.data.length; i++) {
    const row = Math.floor((along.data[i] - WAISTLINE.from) / WAISTLINE.step)
    if (row < 0 || row >= WAISTLINE.rows || Math.abs(across.data[i]) > WAISTLINE.across) continue
    if (mask.data[i] < 0.8 || hidden.data[i]) continue
    costs({ l: lab.data[i * 3], a: lab.data[i * 3 + 1], b: lab.data[i * 3 + 2] }, cost)
    if (cost[0] < Math.min(cost[1], cost[2])) continue
    counts[row]++
    // Pixels that resemble neither, such as a band along the hem, are inconclusive.
    const [asTop, asLower] = [Math.min(cost[1], WAISTLINE.strange), Math.min(cost[2], WAISTLINE.strange)]
    sums[row] += Math.min(Math.max((asLower - asTop) / WAISTLINE.sure, -1), 1)
  }
  return findBestSplit(sums, counts)
}

// Bare rows are inconclusive: below a crop top, the last bare row is that of the waistband.
function findBestSplit(sums: Float64Array, counts: Float64Array): number | null {
  const rowOf = (values: Float64Array, from: number, to: number) => values.subarray(from, to).reduce((a, b) => a + b, 0)
  const total = rowOf(sums, 0, sums.length)
  let above = 0
  let best = { row: 0, gain: Number.NEGATIVE_INFINITY }
  for (let row = 0; row <= sums.length; row++) {
    const gain = above - (total - above)
    if (gain >= best.gain) best = { row, gain }
    above += sums[row] ?? 0
  }
  const clear = (from: number, to: number) => rowOf(sums, from, to) / Math.max(1, rowOf(counts, from, to))
  const [asTop, asLower] = [clear(0, best.row), -clear(best.row, sums.length)]
  const isClear = Math.min(asTop, asLower) > WAISTLINE.clear.each && asTop + asLower > WAISTLINE.clear.both
  return isClear ? WAISTLINE.from + WAISTLINE.step * best.row : null
}
