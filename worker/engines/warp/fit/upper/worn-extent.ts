import type { BodyFrame } from '../../../../vision/body/body-frame.ts'
import { bothSides, type Side } from '../../../../vision/body/keypoints.ts'
import type { Parts } from '../../../../vision/body/parts.ts'
import type { Person } from '../../../../vision/person/person.ts'
import { union } from '../../../../vision/raster/mask.ts'
import type { Mask } from '../../../../vision/raster/plane.ts'
import { fillCapsules } from '../../../../vision/raster/polygon.ts'
import { interpolate } from '../../../../vision/raster/polyline.ts'
import { nearestStep } from '../../../../vision/raster/statistics.ts'
import { between } from '../../../../vision/raster/vector.ts'

/** Extent of the worn top that a new top must cover. */
export interface WornExtent {
  /** Body coordinate F of its hem; 0 if not visible. */
  readonly hem: number
  /** Distance from the body's axis at F, in px; 0 if unknown. */
  readonly halfWidthAt: (fraction: number, side: Side) => number
}

interface Worn {
  person: Person
  body: BodyFrame
  parts: Parts
}

export function measureWornExtent(worn: Worn): WornExtent {
  return { hem: findHem(worn), halfWidthAt: measureSides(worn) }
}

const HEM_FROM = 0.5
const HEM_STEP = 0.025
const HEM_ROWS = 44

// The lowest row in whose middle nearly half of the person is top.
function findHem({ person, parts }: Worn): number {
  const tops = new Float64Array(HEM_ROWS)
  const all = new Float64Array(HEM_ROWS)
  const { along, across, top } = parts
  for (let i = 0; i < top.data.length; i++) {
    if (person.mask.data[i] <= 0.5 || Math.abs(across.data[i]) >= 0.25) continue
    const row = nearestStep(along.data[i], HEM_FROM, HEM_STEP)
    if (row < 0 || row >= HEM_ROWS) continue
    all[row]++
    tops[row] += top.data[i]
  }
  const last = all.findLastIndex((count, row) => tops[row] > 0.45 * Math.max(1, count))
  return last < 0 ? 0 : HEM_FROM + HEM_STEP * last
}

const SIDE_FROM = 0.25
const SIDE_STEP = 0.05
const SIDE_ROWS = 24

// Bin size of a row's distances from the axis, in body units. The last bin collects all larger distances.
const CELL = 0.005
const CELLS = 191

function measureSides({ person, body, parts }: Worn): WornExtent['halfWidthAt'] {
  const arms = upperArms(body, parts.top)
  const counts = bothSides(() => Array.from({ length: SIDE_ROWS }, () => new Float64Array(CELLS)))
  const { along, across, top } = parts
  for (let i = 0; i < top.data.length; i++) {
    if (!top.data[i] || arms.data[i] || person.mask.data[i] <= 0.5) continue
    const row = nearestStep(along.data[i], SIDE_FROM, SIDE_STEP)
    if (row < 0 || row >= SIDE_ROWS) continue
    const x = across.data[i]
    counts[x < 0 ? 0 : 1][row][Math.min(CELLS - 1, Math.floor(Math.abs(x) / CELL))]++
  }
  const widths = bothSides((side) => smoothRows(counts[side].map((row) => body.unit * CELL * reachOf(row))))
  const rows = Float64Array.from({ length: SIDE_ROWS }, (_, row) => SIDE_FROM + SIDE_STEP * row)
  return (fraction, side) => (fraction > 0.2 && fraction < 1.45 ? interpolate(rows, widths[side], fraction) : 0)
}

// Arms without the deltoid, which belongs to the torso.
function upperArms(body: BodyFrame, size: Mask): Mask {
  const [left, right] = bothSides((side) => {
    const shoulder = body.joints.shoulder[side]
    const elbow = body.joints.elbow[side]
    const radius = body.armRadius[side]
    return fillCapsules(size, [between(shoulder, elbow, 0.3), elbow, body.joints.wrist[side]], [radius, radius, radius])
  })
  return union(left, right)
}

// Number of empty bins that separate a wide sleeve or a hanging arm from the torso: the wall is visible between them.
const GAP = 8

// Number of bins that contain 98 % of a row's connected pixels; 0 for rows with hardly any pixels.
function reachOf(cells: Float64Array): number {
  const whole = cells.subarray(0, endOfRun(cells))
  const total = whole.reduce((sum, count) => sum + count, 0)
  if (total <= 20) return 0
  let rest = 0.98 * total
  return whole.findIndex((count) => {
    rest -= count
    return rest <= 0
  })
}

// Hands can hide the middle half of a row.
function endOfRun(cells: Float64Array): number {
  const filled = cells.filter((count) => count > 0).sort()
  const few = 0.15 * (filled[filled.length >> 1] ?? 0)
  let half = cells.reduce((sum, count) => sum + count, 0) / 2
  let empty = 0
  for (let i = 0; i < cells.length; i++) {
    half -= cells[i]
    if (half > 0) continue
    empty = cells[i] > few ? 0 : empty + 1
    if (empty === GAP) return i + 1 - GAP
  }
  return cells.length
}

// Gaussian over nine rows, sigma 1.8.
function smoothRows(values: readonly number[]): Float64Array {
  return Float64Array.from(values, (_, row) => {
    let sum = 0
    let weights = 0
    for (let k = -4; k <= 4; k++) {
      const weight = Math.exp(-(k * k) / (2 * 1.8 * 1.8))
      sum += weight * values[Math.min(Math.max(row + k, 0), values.length - 1)]
      weights += weight
    }
    return sum / weights
  })
}
