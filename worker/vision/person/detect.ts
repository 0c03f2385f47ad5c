import type { Session } from '../../inference/session.ts'
import type { Point } from '../raster/plane.ts'
import type { Pyramid } from '../raster/pyramid.ts'
import { applyAffine } from '../raster/sample.ts'
import { type Region, regionOfBody, regionToBitmap, viewRegion } from './region.ts'

/** A person detected by BlazePose. */
export interface Detection {
  /** 0 to 1. */
  readonly score: number
  /** Region for the landmark model. */
  readonly region: Region
  /** Two opposite corners of the square around the face, in px of the bitmap. */
  readonly face: readonly [Point, Point]
}

const INPUT_SIZE = 224
const SAME_PERSON_OVERLAP = 0.3

/**
 * Detects people in one square of the bitmap with a score of at least `minimum`, highest score first. The square is black
 * outside the bitmap. Often misses people smaller than about a fifth of the square.
 */
export async function detectPeople(
  pyramid: Pyramid,
  { square, minimum, session }: { square: Region; minimum: number; session: Session },
): Promise<Detection[]> {
  const view = viewRegion(pyramid, square, { size: INPUT_SIZE, border: 'black', range: [-1, 1] })
  const { boxes, scores } = await session.run({ image: { shape: [1, INPUT_SIZE, INPUT_SIZE, 3], data: view } })
  const candidates = decode(boxes.data, scores.data, minimum)
  const map = regionToBitmap(square, INPUT_SIZE)
  // The model's unit is the side of its input; its origin is the corner, half a pixel before the centre of the first pixel.
  const toBitmap = (x: number, y: number): Point =>
    applyAffine(map, { x: x * INPUT_SIZE - 0.5, y: y * INPUT_SIZE - 0.5 })
  return mergeOverlapping(candidates).map(({ score, values }) => ({
    score,
    region: regionOfBody(toBitmap(values[4], values[5]), toBitmap(values[6], values[7])),
    face: [toBitmap(values[0], values[1]), toBitmap(values[2], values[3])],
  }))
}

/** Merges the detections of several overlapping squares: for each face the detection with the highest score. */
export function withoutRepeats(detections: readonly Detection[]): Detection[] {
  const kept: Detection[] = []
  for (const detection of detections.toSorted((a, b) => b.score - a.score)) {
    if (!kept.some(({ face }) => overlap(corners(face), corners(detection.face)) > SAME_PERSON_OVERLAP))
      kept.push(detection)
  }
  return kept
}

function corners([a, b]: readonly [Point, Point]): readonly number[] {
  return [a.x, a.y, b.x, b.y]
}

interface Candidate {
  readonly score: number
  /** Left, top, right, bottom of the face's box, then four keypoints, in shares of the input's side. */
  readonly values: Float64Array
}

const anchors = createAnchors()

// One anchor point per output row: a fine, a middle and a coarse grid with two, two and six rows per cell.
function createAnchors(): Point[] {
  const grids = [
    [28, 2],
    [14, 2],
    [7, 6],
  ]
  return grids.flatMap(([side, perCell]) =>
    Array.from({ length: side * side * perCell }, (_, i) => {
      const cell = Math.floor(i / perCell)
      return { x: ((cell % side) + 0.5) / side, y: (Math.floor(cell / side) + 0.5) / side }
    }),
  )
}

function decode(boxes: Float32Array, logits: Float32Array, minimum: number): Candidate[] {
  const candidates: Candidate[] = []
  const columns = boxes.length / anchors.length
  for (const [i, anchor] of anchors.entries()) {
    const score = 1 / (1 + Math.exp(-logits[i]))
    if (score < minimum) continue
    const raw = Float64Array.from(boxes.subarray(i * columns, (i + 1) * columns), (value) => value / INPUT_SIZE)
    const [x, y, width, height] = raw
    const values = raw.map((value, k) => value + (k % 2 === 0 ? anchor.x : anchor.y))
    values.set([
      anchor.x + x - width / 2,
      anchor.y + y - height / 2,
      anchor.x + x + width / 2,
      anchor.y + y + height / 2,
    ])
    candidates.push({ score, values })
  }
  return candidates
}

// Weighted non-maximum suppression: each group of overlapping boxes becomes its mean, weighted by score.
function mergeOverlapping(candidates: readonly Candidate[]): Candidate[] {
  const merged: Candidate[] = []
  let left = candidates.toSorted((a, b) => b.score - a.score)
  while (left.length > 0) {
    const best = left[0]
    const isSame = (other: Candidate) => overlap(best.values, other.values) > SAME_PERSON_OVERLAP || other === best
    merged.push({ score: best.score, values: weightedMean(left.filter(isSame)) })
    left = left.filter((candidate) => !isSame(candidate))
  }
  return merged
}

function weightedMean(group: readonly Candidate[]): Float64Array {
  const mean = new Float64Array(group[0].values.length)
  const total = group.reduce((sum, { score }) => sum + score, 0)
  for (const { score, values } of group)
    values.forEach((value, k) => {
      mean[k] += (value * score) / total
    })
  return mean
}

// Intersection over union of two boxes.
function overlap(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const width = Math.min(a[2], b[2]) - Math.max(a[0], b[0])
  const height = Math.min(a[3], b[3]) - Math.max(a[1], b[1])
  if (width <= 0 || height <= 0) return 0
  const area = (box: ArrayLike<number>) => (box[2] - box[0]) * (box[3] - box[1])
  return (width * height) / (area(a) + area(b) - width * height)
}
