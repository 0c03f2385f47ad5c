import type { Pixels, Point } from '../../raster/plane.ts'
import { resample } from '../../raster/polyline.ts'
import type { SideLandmarks } from '../garment.ts'
import { cutPatch, type GarmentPatch } from '../garment-patch.ts'
import { bestEdge, clearestCrossing, type FrontEdge, measureHalf } from './front-edges.ts'

/** The two edges of an open jacket's front, [left, right] of the image, each from the neck corner down past the hem. */
export type OpenFront = readonly [left: readonly Point[], right: readonly Point[]]

interface Cloth {
  readonly axis: number
  readonly torsoWidth: number
  readonly landmarks: readonly [SideLandmarks, SideLandmarks]
}

// The patch: px per torso width, and max distance of an edge from the axis.
const TORSO = 120
const FARTHEST = 0.45 * TORSO
const MIN_HALF = 3
// Shares of the garment's length between which an edge must be visible: above the collar hides the edge, below a turned hem does.
const FROM = 0.06
const TO = 0.92
// Min mean gain of both edges.
const MIN_GAIN = 0.54
// Min width of the opening as a share of the torso's: a zip, a placket and their bands are narrower.
const MIN_WIDTH = 0.09
// Min width of the narrowest row over the median.
const MIN_NARROW = 0.5
const MAX_OFF_AXIS = 0.12
// Max gain of a line across, which is the front neckline of a closed garment.
const MAX_CROSSING = 0.46

/**
 * The front of an open jacket or cardigan: two edges from the collar to the hem, nearly symmetric, with one piece of cloth between
 * them, the inside of the back. Null for a closed garment and in doubt. `image` is premultiplied RGBA, 0 to 255, with the garment
 * upright around the column `axis`.
 */
export function findOpenFront(image: Pixels, cloth: Cloth): OpenFront | null {
  const { patch, axis, corners } = frontPatch(image, cloth)
  const rows = { first: Math.round(FROM * patch.cover.height), last: Math.round(TO * patch.cover.height) }
  const halves = ([-1, 1] as const).map((side) => measureHalf(patch, { axis, side, columns: FARTHEST }))
  const [left, right] = halves.map((half) => bestEdge(half, { ...rows, nearest: MIN_HALF }))
  if (!left || !right || (left.gain + right.gain) / 2 < MIN_GAIN || !liesInMiddle([left, right], rows)) return null
  const strip = {
    left: (row: number) => axis - left.columns[row] + MIN_HALF,
    right: (row: number) => axis + right.columns[row] - MIN_HALF,
    from: Math.round((corners[0].y + corners[1].y) / 2 + 0.28 * (corners[1].x - corners[0].x)),
    to: Math.round(0.6 * patch.cover.height),
  }
  if (clearestCrossing(patch, strip) > MAX_CROSSING) return null
  return [drawEdge(left, { patch, axis, side: -1, cloth }), drawEdge(right, { patch, axis, side: 1, cloth })]
}

interface Rows {
  readonly first: number
  readonly last: number
}

type Both = readonly [FrontEdge, FrontEdge]

function frontPatch(image: Pixels, { axis, torsoWidth, landmarks: [left, right] }: Cloth) {
  const bounds = {
    x0: axis - 0.55 * torsoWidth,
    x1: axis + 0.55 * torsoWidth,
    y0: Math.min(left.neck.y, right.neck.y),
    y1: (left.hem.y + right.hem.y) / 2,
  }
  const patch = cutPatch(image, bounds, TORSO / Math.max(1, torsoWidth))
  return {
    patch,
    axis: Math.round(patch.toPatch({ x: axis, y: 0 }).x),
    corners: [patch.toPatch(left.neck), patch.toPatch(right.neck)] as const,
  }
}

// Wide enough, and nowhere narrow enough to be closed: a V neck above two lines of a print.
function liesInMiddle([left, right]: Both, { first, last }: Rows): boolean {
  const widths: number[] = []
  let off = 0
  for (let row = first; row < last; row++) {
    widths.push(left.columns[row] + right.columns[row])
    off += right.columns[row] - left.columns[row]
  }
  widths.sort((a, b) => a - b)
  const median = widths[widths.length >> 1]
  const isOpen = median > MIN_WIDTH * TORSO && widths[0] > MIN_NARROW * median
  return isOpen && Math.abs(off) / 2 < MAX_OFF_AXIS * TORSO * widths.length
}

const POINTS = 24

// From the corner, smoothed, and straight past the hem.
function drawEdge(
  { columns }: FrontEdge,
  { patch, axis, side, cloth }: { patch: GarmentPatch; axis: number; side: -1 | 1; cloth: Cloth },
): Point[] {
  const corner = cloth.landmarks[side < 0 ? 0 : 1].neck
  const rows = columns.length
  const line: Point[] = []
  for (let row = Math.round(FROM * rows); row < rows; row++) {
    const around = columns.subarray(Math.max(0, row - 3), row + 4)
    const mean = around.reduce((sum, column) => sum + column, 0) / around.length
    line.push(patch.toImage({ x: axis + side * mean, y: row }))
  }
  const last = line[line.length - 1]
  return [...resample([corner, ...line], POINTS), { x: last.x, y: last.y + 0.2 * cloth.torsoWidth }]
}

// Depth of the part of an opening that determines the placement, over the distance of the neck corners.
const NECKLINE_DEPTH = 0.6

/** The neckline of an open garment, from the left to the right neck corner: the upper parts of its edges. */
export function necklineOfOpenFront([left, right]: OpenFront): Point[] {
  const depth = NECKLINE_DEPTH * (right[0].x - left[0].x)
  const upper = (edge: readonly Point[]) => edge.filter(({ y }, i) => i === 0 || y < edge[0].y + depth)
  return resample([...upper(left), ...upper(right).toReversed()], 61)
}
