import type { Parts } from '../../../../vision/body/parts.ts'
import type { Plane } from '../../../../vision/raster/plane.ts'
import { nearestStep } from '../../../../vision/raster/statistics.ts'

const FROM = 0.5
const STEP = 0.025
const ROWS = 44

/** Body coordinate F of the hem of the worn top: of the lowest row in whose middle nearly half of the person is top. 0 if not visible. */
export function findWornHem(mask: Plane, { along, across, top }: Parts): number {
  const tops = new Float64Array(ROWS)
  const all = new Float64Array(ROWS)
  for (let i = 0; i < top.data.length; i++) {
    if (mask.data[i] <= 0.5 || Math.abs(across.data[i]) >= 0.25) continue
    const row = nearestStep(along.data[i], FROM, STEP)
    if (row < 0 || row >= ROWS) continue
    all[row]++
    tops[row] += top.data[i]
  }
  const last = all.findLastIndex((count, row) => tops[row] > 0.45 * Math.max(1, count))
  return last < 0 ? 0 : FROM + STEP * last
}
