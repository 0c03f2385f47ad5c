import { deltaE } from '../../raster/colour.ts'
import {
  type Component,
  connectedComponents,
  connectedToBorder,
  keepComponents,
  largestComponent,
} from '../../raster/components.ts'
import { findBays, followContour } from '../../raster/contour.ts'
import { featherMask } from '../../raster/feather.ts'
import { below, countSet, invert, threshold, union, without, withValue } from '../../raster/mask.ts'
import { close, dilate, open } from '../../raster/morphology.ts'
import { type Colours, createMask, longSide, type Mask, type Point } from '../../raster/plane.ts'
import { distanceToPalette, paletteOf } from '../garment-palette.ts'
import { boundsOf } from '../outline/upright.ts'
import { addHoles } from './background-holes.ts'
import { backgroundTolerance, type ComparedImage, compareHueAgain, distanceToShadow } from './shadow.ts'

// Min area of a hole or a speck, as a share of the bitmap.
const SMALL = 0.0006

/**
 * Segments the garment: pixels that resemble neither the background nor a shadow on it, as far as the background is connected to
 * the border of the photo. Empty if the whole photo is background.
 */
export function findSilhouette(image: ComparedImage): Mask {
  const sure = sureBackground(image)
  const shaded = union(sure, softShadow(image))
  const inStripes = betweenStripes(open(unshadowed(image), 1))
  const clear = without(sure, inStripes)
  const reached = reachableBackground(clear, without(shaded, inStripes))
  const background = addHoles(image, { background: reached, sure: clear, inStripes })
  const even = withoutNoise(image, background, inStripes)
  const dimmed = addContactShadow(even, background, inStripes)
  // Repeat from the new border: the dark end of a gap is further in than one step.
  return extendLegGap(image, smoothEdge(image, tidy(invert(addContactShadow(even, dimmed, inStripes)))))
}

// A garment of the background's own hue resembles one large shadow: then only certain background counts.
function reachableBackground(sure: Mask, shaded: Mask): Mask {
  const bare = connectedToBorder(open(sure, 1))
  const dimmed = connectedToBorder(open(shaded, 1))
  const total = sure.data.length
  return total - countSet(dimmed) < 0.7 * (total - countSet(bare)) ? bare : dimmed
}

// Colours that the background has in no shadow: of another hue, lighter, or nearly black.
function unshadowed({ background, comparison: { light, tint } }: ComparedImage): Mask {
  const tintLimit = Math.max(8, 8 * background.deviation)
  const found = createMask(tint)
  for (let i = 0; i < found.data.length; i++)
    if (tint.data[i] > tintLimit || light.data[i] < 0.3 || light.data[i] > 1.1) found.data[i] = 1
  return found
}

// White stripes on a white background are connected to the outline as gaps are. But gaps under sleeves are open downwards:
// a region closely between cloth above and cloth below is a stripe.
function betweenStripes(cloth: Mask): Mask {
  const { width, height, data } = cloth
  const widest = Math.round(0.07 * longSide(cloth))
  const between = createMask(cloth)
  const lastCloth = new Int32Array(width).fill(-height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!data[y * width + x]) continue
      const gap = y - lastCloth[x] - 1
      if (gap > 0 && gap <= widest) for (let v = y - gap; v < y; v++) between.data[v * width + x] = 1
      lastCloth[x] = y
    }
  }
  const isStripe = (c: Component) => c.right - c.left > Math.max(0.04 * longSide(cloth), 1.5 * (c.bottom - c.top))
  return keepComponents(between, isStripe)
}

// A noisy background causes a ragged hem.
function smoothEdge({ background }: ComparedImage, garment: Mask): Mask {
  if (background.deviation <= 0.5) return garment
  return threshold(featherMask(garment, 0.0035 * longSide(garment)), 0.5)
}

function sureBackground({ background, comparison: { difference } }: ComparedImage): Mask {
  return below(difference, backgroundTolerance(background))
}

// Darker than the background, of its hue, without edges. The less noise the background has, the fainter the edges that count.
function softShadow({ background, comparison: { light, tint, gradient } }: ComparedImage): Mask {
  const tintLimit = Math.max(2.5, 4 * background.deviation)
  const steepest = Math.min(1.6, 0.5 + 1.25 * background.deviation)
  const shaded = withValue(below(tint, tintLimit), light, { over: 0.55, under: 1 })
  return withValue(shaded, gradient, { under: steepest })
}

// Distance from the background, as a share of the long side, within which noise is removed: equals the search depth of shadows.
const DEPTH = 0.07

// Noise gives some background pixels the hue of grey cloth: decide by the surrounding background candidates.
function withoutNoise(image: ComparedImage, background: Mask, inStripes: Mask): ComparedImage {
  const { lab, comparison } = image
  const { deviation } = image.background
  if (deviation <= 0.5) return image
  const near = dilate(background, DEPTH * longSide(background))
  const unknown = without(near, background, inStripes)
  const doubtful = withValue(unknown, comparison.tint, { under: Math.max(8, 8 * deviation) })
  const even = { ...lab, data: lab.data.slice() }
  for (let i = 0; i < doubtful.data.length; i++) if (doubtful.data[i]) averageHue(even.data, lab, { i, doubtful })
  return { lab: even, background: image.background, comparison: compareHueAgain(even, image, doubtful) }
}

function averageHue(
  out: Float32Array,
  { width, height, data }: Colours,
  { i, doubtful }: { i: number; doubtful: Mask },
): void {
  const [x, y] = [i % width, Math.floor(i / width)]
  let [sumA, sumB, count] = [0, 0, 0]
  for (let v = Math.max(0, y - 2); v <= Math.min(height - 1, y + 2); v++) {
    for (let u = Math.max(0, x - 2); u <= Math.min(width - 1, x + 2); u++) {
      const k = v * width + u
      if (!doubtful.data[k]) continue
      sumA += data[3 * k + 1]
      sumB += data[3 * k + 2]
      count++
    }
  }
  out[3 * i + 1] = sumA / count
  out[3 * i + 2] = sumB / count
}

// The dark rim right under the cloth is too sharp for a soft shadow: there the garment's own colours decide. Far from known
// background, as deep in the gap under a sleeve, the decision must be clear.
function addContactShadow(image: ComparedImage, background: Mask, inStripes: Mask): Mask {
  const core = invert(dilate(background, Math.max(3, 0.02 * longSide(background))))
  const palette = paletteOf(image.lab, core)
  if (palette.length === 0) return background
  const { light } = image.comparison
  const near = dilate(background, 0.035 * longSide(background))
  const joined = createMask(background)
  for (let i = 0; i < joined.data.length; i++) {
    if (background.data[i]) joined.data[i] = 1
    const r = light.data[i]
    if (background.data[i] || inStripes.data[i] || r >= 1.02) continue
    const toShadow = distanceToShadow(image, i)
    const evidence = near.data[i] ? 1.25 * toShadow + 1.9 : 3 * toShadow + 5
    if (evidence < distanceToPalette(image.lab, i, palette)) joined.data[i] = 1
  }
  return open(union(connectedToBorder(joined), background), 2)
}

function tidy(garment: Mask): Mask {
  const opened = open(garment, 1)
  const largest = connectedComponents(opened).components.reduce((most, { area }) => Math.max(most, area), 0)
  return fillSmallHoles(
    close(
      keepComponents(opened, ({ area }) => area > 0.03 * largest),
      2,
    ),
  )
}

function fillSmallHoles(garment: Mask): Mask {
  const { width, height } = garment
  const isSmall = (c: Component) =>
    c.left > 0 && c.top > 0 && c.right < width && c.bottom < height && c.area < SMALL * width * height
  return union(garment, keepComponents(invert(garment), isSmall, 4))
}

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
function extendLegGap(image: ComparedImage, garment: Mask): Mask {
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
