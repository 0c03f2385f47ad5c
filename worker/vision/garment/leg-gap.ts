import { deltaE } from '../raster/colour.ts'
import { largestComponent } from '../raster/components.ts'
import { findBays, followContour } from '../raster/contour.ts'
import type { Mask, Point } from '../raster/plane.ts'
import { type ComparedImage, distanceToShadow } from './shadow.ts'
import { boundsOf } from './upright.ts'

/**
 * The gap between two legs: max distance from the middle over the garment's width; min depth of its known part, min level of its
 * mouth and of its upper end below the garment's top, over the garment's height.
 */
const GAP = { beside: 0.15, depth: 0.03, mouth: 0.6, end: 0.12 } as const
// Max rows between the end of the known part, which is rounded, and the row where the search starts: never below its mouth.
const START = 8
// Max ΔE of the gap from the background in shadow, and from the nearest pixel of its last row.
const LIKE = { shadow: 6, last: 5 } as const
// Min px of a row of the gap, and max px by which it exceeds the last one at each side.
const MIN_WIDTH = 3
const GROWTH = 2
// Max height of a seam or thread across the gap, over the garment's height.
const MAX_BRIDGE = 0.012
// Px added to each side, so that a gap of few px is not smoothed away.
const WIDENING = 1

/**
 * Extends the gap between the legs of trousers upwards to its end. Legs that nearly touch shade the gap, so that only its mouth is
 * known background. Returns the silhouette itself if it has no such gap.
 */
export function extendLegGap(image: ComparedImage, garment: Mask): Mask {
  const known = findKnownGap(largestComponent(garment))
  if (known === null) return garment
  const out = { ...garment, data: garment.data.slice() }
  for (const { y, left, right } of followUpwards(image, known)) {
    const row = y * garment.width
    out.data.fill(0, row + left - WIDENING, row + right + 1 + WIDENING)
  }
  return out
}

interface Run {
  readonly y: number
  readonly left: number
  readonly right: number
}

interface KnownGap {
  readonly start: Run
  /** The row at which even the shortest trousers have no gap. */
  readonly end: number
  /** Max px of a seam or thread across the gap. */
  readonly bridge: number
}

function findKnownGap(piece: Mask): KnownGap | null {
  const contour = followContour(piece)
  if (contour.length === 0) return null
  const { left, right, top, bottom } = boundsOf(contour)
  const [width, height] = [right - left, bottom - top]
  const gaps = findBays(contour).filter((bay) => {
    const feet = Math.min(contour[bay.from].y, contour[bay.to].y)
    const aside = Math.abs(contour[bay.deepest].x - (left + right) / 2)
    return aside < GAP.beside * width && bay.depth > GAP.depth * height && feet > top + GAP.mouth * height
  })
  if (gaps.length === 0) return null
  const { deepest, depth } = gaps.reduce((a, b) => (b.depth > a.depth ? b : a))
  const start = rowBelow(piece, contour[deepest], Math.min(START, Math.floor(depth / 2)))
  return { start, end: top + GAP.end * height, bridge: MAX_BRIDGE * height }
}

function rowBelow({ width, data }: Mask, { x, y }: Point, rows: number): Run {
  const row = y + rows
  let [left, right] = [x, x]
  while (left > 0 && data[row * width + left - 1] === 0) left--
  while (right < width - 1 && data[row * width + right + 1] === 0) right++
  return { y: row, left, right }
}

function followUpwards(image: ComparedImage, { start, end, bridge }: KnownGap): Run[] {
  const rows: Run[] = []
  let last = start
  for (let y = start.y - 1; y > end && last.y - y <= bridge; y--) {
    const run = runAbove(image, last, y)
    if (run === null) continue
    for (let between = last.y - 1; between > y; between--) rows.push({ ...last, y: between })
    rows.push(run)
    last = run
  }
  return rows
}

function runAbove(image: ComparedImage, last: Run, y: number): Run | null {
  const isGap = (x: number) => {
    const pixel = y * image.lab.width + x
    const nearest = last.y * image.lab.width + Math.min(Math.max(x, last.left), last.right)
    return distanceToShadow(image, pixel) < LIKE.shadow && deltaE(image.lab, pixel, image.lab, nearest) < LIKE.last
  }
  let longest: Run | null = null
  for (let x = last.left - GROWTH; x <= last.right + GROWTH; x++) {
    if (!isGap(x)) continue
    const left = x
    while (x < last.right + GROWTH && isGap(x + 1)) x++
    if (longest === null || x - left > longest.right - longest.left) longest = { y, left, right: x }
  }
  return longest !== null && longest.right - longest.left + 1 >= MIN_WIDTH ? longest : null
}
