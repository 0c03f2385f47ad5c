import type { Session } from '../../inference/session.ts'
import type { Plane, Point } from '../raster/plane.ts'
import type { Pyramid } from '../raster/pyramid.ts'
import { applyAffine } from '../raster/sample.ts'
import { LANDMARKS, type Landmark, type LandmarkName } from './person.ts'
import { type Region, regionOfBody, regionToBitmap, viewRegion } from './region.ts'

const VIEW_SIZE = 256
const HEATMAP_SIZE = 64
const COUNT = 39
const VALUES_PER_LANDMARK = 5

export interface LocatedBody {
  readonly landmarks: Readonly<Record<LandmarkName, Landmark>>
  /** Probability that the region shows a person, 0 to 1. */
  readonly presence: number
  /** Share of each pixel of the region's view that belongs to the person, 0 to 1; `VIEW_SIZE` × `VIEW_SIZE`. */
  readonly segmentation: Plane
  /** Region for a second pass: more precise than the detector's. */
  readonly next: Region
}

/** Landmarks (px of the bitmap) and segmentation of the person in the region, by BlazePose's landmark model. */
export async function locateBody(pyramid: Pyramid, region: Region, session: Session): Promise<LocatedBody> {
  const view = viewRegion(pyramid, region, { size: VIEW_SIZE, border: 'replicate', range: [0, 1] })
  const outputs = await session.run({ image: { shape: [1, VIEW_SIZE, VIEW_SIZE, 3], data: view } }, [
    'landmarks',
    'pose_flag',
    'segmentation',
    'heatmap',
  ])
  const raw = outputs.landmarks.data
  const points = refine(raw, outputs.heatmap.data)
  const map = regionToBitmap(region, VIEW_SIZE)
  const positions = points.map(({ x, y }) => applyAffine(map, { x: x * VIEW_SIZE - 0.5, y: y * VIEW_SIZE - 0.5 }))
  return {
    landmarks: nameLandmarks(positions, raw, region),
    presence: outputs.pose_flag.data[0],
    segmentation: { width: VIEW_SIZE, height: VIEW_SIZE, data: outputs.segmentation.data.map(sigmoid) },
    // Two points beyond the 33 body landmarks: the middle of the hips and the rim of the circle around the body.
    next: regionOfBody(positions[LANDMARKS.length], positions[LANDMARKS.length + 1]),
  }
}

// Positions in shares of the view's side. Moves each position to the centre of mass of its heatmap nearby, if the heatmap is confident.
function refine(raw: Float32Array, heatmap: Float32Array): Point[] {
  return Array.from({ length: COUNT }, (_, i) => {
    const at = i * VALUES_PER_LANDMARK
    const point = { x: raw[at] / VIEW_SIZE, y: raw[at + 1] / VIEW_SIZE }
    return centreOfMass(heatmap, i, point) ?? point
  })
}

const REACH = 3
const SURE = 0.5

function centreOfMass(heatmap: Float32Array, landmark: number, { x, y }: Point): Point | undefined {
  const column = Math.trunc(x * HEATMAP_SIZE)
  const row = Math.trunc(y * HEATMAP_SIZE)
  if (column < 0 || row < 0 || column >= HEATMAP_SIZE || row >= HEATMAP_SIZE) return undefined
  let highest = 0
  let sum = 0
  let sumX = 0
  let sumY = 0
  for (let r = Math.max(0, row - REACH); r <= Math.min(HEATMAP_SIZE - 1, row + REACH); r++) {
    for (let c = Math.max(0, column - REACH); c <= Math.min(HEATMAP_SIZE - 1, column + REACH); c++) {
      const weight = sigmoid(heatmap[(r * HEATMAP_SIZE + c) * COUNT + landmark])
      highest = Math.max(highest, weight)
      sum += weight
      sumX += weight * c
      sumY += weight * r
    }
  }
  if (highest < SURE) return undefined
  return { x: sumX / sum / HEATMAP_SIZE, y: sumY / sum / HEATMAP_SIZE }
}

function nameLandmarks(
  positions: readonly Point[],
  raw: Float32Array,
  { side }: Region,
): Record<LandmarkName, Landmark> {
  const named = LANDMARKS.map((name, i): [LandmarkName, Landmark] => {
    const at = i * VALUES_PER_LANDMARK
    const z = (raw[at + 2] / VIEW_SIZE) * side
    return [name, { ...positions[i], z, visibility: sigmoid(raw[at + 3]), presence: sigmoid(raw[at + 4]) }]
  })
  return Object.fromEntries(named) as Record<LandmarkName, Landmark>
}

function sigmoid(logit: number): number {
  return 1 / (1 + Math.exp(-logit))
}
