import { type Cluster, createRandom, kMeans } from '../raster/clusters.ts'
import { type Component, connectedComponents, connectedToBorder, keepComponents } from '../raster/components.ts'
import { gaussianBlur } from '../raster/filter.ts'
import { close, dilate, open } from '../raster/morphology.ts'
import { type Colours, countSet, createMask, invert, type Mask, maskToPlane, threshold } from '../raster/plane.ts'
import type { Ground } from './ground.ts'
import type { GroundComparison } from './shadow.ts'

/** A picture beside what is known of its ground. */
export interface GroundedPicture {
  /** CIE Lab. */
  readonly lab: Colours
  readonly ground: Ground
  readonly comparison: GroundComparison
}

// Share of the picture below which a hole or a speck is not worth an edge.
const SMALL = 0.0006

/**
 * Which pixels are garment: all that neither looks like the ground nor like the ground in shadow, as far as the picture's
 * border reaches it. Nothing is set when the picture is all ground.
 */
export function findSilhouette(picture: GroundedPicture): Mask {
  const sure = sureGround(picture)
  const shaded = orMask(sure, softShadow(picture))
  const inStripes = betweenStripes(open(unshadowed(picture), 1))
  const reached = reachableGround(without(sure, inStripes), without(shaded, inStripes))
  const ground = addHoles(picture, { ground: reached, sure: without(sure, inStripes) })
  const dimmed = addContactShadow(picture, ground, inStripes)
  // Once more from there: the dark end of a gap lies further in than one step.
  return smoothEdge(picture, tidy(invert(addContactShadow(picture, dimmed, inStripes))))
}

// A garment of the ground's own hue looks like one large shadow: then only what is surely ground counts.
function reachableGround(sure: Mask, shaded: Mask): Mask {
  const bare = connectedToBorder(open(sure, 1))
  const dimmed = connectedToBorder(open(shaded, 1))
  const total = sure.data.length
  return total - countSet(dimmed) < 0.7 * (total - countSet(bare)) ? bare : dimmed
}

// What the ground would not look like in any shadow: of another hue, lighter, or nearly black.
function unshadowed({ ground, comparison: { light, tint } }: GroundedPicture): Mask {
  const cloth = createMask(light)
  const tintLimit = Math.max(8, 8 * ground.deviation)
  for (let i = 0; i < cloth.data.length; i++)
    cloth.data[i] = tint.data[i] > tintLimit || light.data[i] < 0.3 || light.data[i] > 1.1 ? 1 : 0
  return cloth
}

// White stripes on a white ground reach the outline like gaps do. But gaps under sleeves are open downwards: what lies
// closely between cloth above and cloth below is a stripe.
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

// A noisy ground leaves a ragged hem.
function smoothEdge({ ground }: GroundedPicture, garment: Mask): Mask {
  if (ground.deviation <= 0.5) return garment
  return threshold(gaussianBlur(maskToPlane(garment), 0.0035 * longSide(garment)), 0.5)
}

function sureGround({ ground, comparison: { difference } }: GroundedPicture): Mask {
  const limit = groundTolerance(ground)
  const sure = createMask(difference)
  for (let i = 0; i < sure.data.length; i++) sure.data[i] = difference.data[i] < limit ? 1 : 0
  return sure
}

/** ΔE up to which a pixel counts as ground. */
export function groundTolerance({ deviation }: Ground): number {
  return Math.min(12, Math.max(2.5, 5 * deviation + 1.2))
}

// Darker than the ground, of its hue, without edges; the cleaner the ground, the fainter the edges that count.
function softShadow({ ground, comparison: { light, tint, gradient } }: GroundedPicture): Mask {
  const shadow = createMask(light)
  const tintLimit = Math.max(2.5, 4 * ground.deviation)
  const steepest = Math.min(1.6, 0.5 + 1.25 * ground.deviation)
  for (let i = 0; i < shadow.data.length; i++) {
    const r = light.data[i]
    shadow.data[i] = r > 0.55 && r < 1 && tint.data[i] < tintLimit && gradient.data[i] < steepest ? 1 : 0
  }
  return shadow
}

// Ground seen through a gap, as between sleeve and body. A light print in the middle of a garment looks the same and stays.
function addHoles(picture: GroundedPicture, { ground, sure }: { ground: Mask; sure: Mask }): Mask {
  const { width, height } = ground
  const enclosed = createMask(ground)
  for (let i = 0; i < enclosed.data.length; i++) enclosed.data[i] = sure.data[i] && !ground.data[i] ? 1 : 0
  const { labels, components } = connectedComponents(enclosed, 4)
  const large = components.filter((c) => c.area > SMALL * width * height)
  if (large.length === 0) return ground
  const { left, right } = columnsOf(invert(ground))
  const holes = large.filter((c) => {
    const across = ((c.left + c.right) / 2 - left) / Math.max(1, right - left)
    return Math.abs(across - 0.5) > 0.2 && isFlatGround(picture, labels, c)
  })
  const accepted = new Set(holes.map((c) => c.label))
  const out = createMask(ground)
  for (let i = 0; i < out.data.length; i++) out.data[i] = ground.data[i] || accepted.has(labels[i]) ? 1 : 0
  return out
}

function isFlatGround({ ground, comparison }: GroundedPicture, labels: Int32Array, component: Component): boolean {
  const { width, data } = comparison.difference
  let sum = 0
  const gradients: number[] = []
  for (let y = component.top; y < component.bottom; y++) {
    for (let i = y * width + component.left; i < y * width + component.right; i++) {
      if (labels[i] !== component.label) continue
      sum += data[i]
      gradients.push(comparison.gradient.data[i])
    }
  }
  gradients.sort((a, b) => a - b)
  return sum / component.area < 0.6 * groundTolerance(ground) && gradients[gradients.length >> 1] < 0.5
}

function columnsOf(mask: Mask): { left: number; right: number } {
  let left = mask.width
  let right = 0
  for (let i = 0; i < mask.data.length; i++) {
    if (!mask.data[i]) continue
    const x = i % mask.width
    if (x < left) left = x
    if (x > right) right = x
  }
  return { left, right }
}

// The dark rim right under the cloth is too sharp for the soft shadow: there the garment's own colours decide. Far from known
// ground, as deep in the gap under a sleeve, they must decide clearly.
function addContactShadow(picture: GroundedPicture, ground: Mask, inStripes: Mask): Mask {
  const core = invert(dilate(ground, Math.max(3, 0.02 * longSide(ground))))
  const palette = paletteOf(picture.lab, core)
  if (palette.length === 0) return ground
  const { light, tint } = picture.comparison
  const near = dilate(ground, 0.035 * longSide(ground))
  const joined = createMask(ground)
  for (let i = 0; i < joined.data.length; i++) {
    if (ground.data[i]) joined.data[i] = 1
    const r = light.data[i]
    if (ground.data[i] || inStripes.data[i] || r >= 1.02) continue
    const toShadow = tint.data[i] + 80 * Math.max(0, 0.45 - r) + 100 * Math.max(0, r - 1)
    const evidence = near.data[i] ? 1.25 * toShadow + 1.6 : 3 * toShadow + 5
    if (evidence < distanceToPalette(picture.lab, i, palette)) joined.data[i] = 1
  }
  return open(orMask(connectedToBorder(joined), ground), 2)
}

function paletteOf(lab: Colours, core: Mask): Cluster[] {
  const inside = countSet(core)
  if (inside <= 500) return []
  const random = createRandom(1)
  const share = Math.min(1, 4000 / inside)
  const samples: number[] = []
  for (let i = 0; i < core.data.length; i++) {
    if (core.data[i] && random() < share) samples.push(lab.data[3 * i], lab.data[3 * i + 1], lab.data[3 * i + 2])
  }
  return kMeans(Float32Array.from(samples), { dimensions: 3, count: 6 }).filter((cluster) => cluster.share > 0.03)
}

// Lightness counts half: folds change it most.
function distanceToPalette(lab: Colours, pixel: number, palette: readonly Cluster[]): number {
  let best = Number.POSITIVE_INFINITY
  for (const { mean } of palette) {
    const dl = 0.5 * (lab.data[3 * pixel] - mean[0])
    const da = lab.data[3 * pixel + 1] - mean[1]
    const db = lab.data[3 * pixel + 2] - mean[2]
    best = Math.min(best, dl * dl + da * da + db * db)
  }
  return Math.sqrt(best)
}

function tidy(garment: Mask): Mask {
  const opened = open(garment, 1)
  const { labels, components } = connectedComponents(opened)
  const largest = components.reduce((most, c) => Math.max(most, c.area), 0)
  const kept = new Set(components.filter((c) => c.area > 0.03 * largest).map((c) => c.label))
  const out = createMask(garment)
  for (let i = 0; i < out.data.length; i++) out.data[i] = labels[i] !== 0 && kept.has(labels[i]) ? 1 : 0
  return fillSmallHoles(close(out, 2))
}

function fillSmallHoles(garment: Mask): Mask {
  const { width, height } = garment
  const { labels, components } = connectedComponents(invert(garment), 4)
  const small = components.filter(
    (c) => c.left > 0 && c.top > 0 && c.right < width && c.bottom < height && c.area < SMALL * width * height,
  )
  const filled = new Set(small.map((c) => c.label))
  const out = createMask(garment)
  for (let i = 0; i < out.data.length; i++) out.data[i] = garment.data[i] || filled.has(labels[i]) ? 1 : 0
  return out
}

function orMask(a: Mask, b: Mask): Mask {
  const out = createMask(a)
  for (let i = 0; i < out.data.length; i++) out.data[i] = a.data[i] | b.data[i]
  return out
}

function without(a: Mask, b: Mask): Mask {
  const out = createMask(a)
  for (let i = 0; i < out.data.length; i++) out.data[i] = a.data[i] & ~b.data[i]
  return out
}

function longSide({ width, height }: Mask): number {
  return Math.max(width, height)
}
