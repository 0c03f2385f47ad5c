import { type Component, connectedComponents, connectedToBorder, keepComponents } from '../raster/components.ts'
import { gaussianBlur } from '../raster/filter.ts'
import { close, dilate, open } from '../raster/morphology.ts'
import {
  type Colours,
  countSet,
  createMask,
  invert,
  longSide,
  type Mask,
  maskToPlane,
  subset,
  threshold,
  union,
} from '../raster/plane.ts'
import { addHoles } from './background-holes.ts'
import { distanceToPalette, paletteOf } from './garment-palette.ts'
import { extendLegGap } from './leg-gap.ts'
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
  const reached = reachableBackground(without(sure, inStripes), without(shaded, inStripes))
  const background = addHoles(image, { background: reached, sure: without(sure, inStripes), inStripes })
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
  const cloth = createMask(light)
  const tintLimit = Math.max(8, 8 * background.deviation)
  for (let i = 0; i < cloth.data.length; i++)
    cloth.data[i] = tint.data[i] > tintLimit || light.data[i] < 0.3 || light.data[i] > 1.1 ? 1 : 0
  return cloth
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
  return threshold(gaussianBlur(maskToPlane(garment), 0.0035 * longSide(garment)), 0.5)
}

function sureBackground({ background, comparison: { difference } }: ComparedImage): Mask {
  const limit = backgroundTolerance(background)
  const sure = createMask(difference)
  for (let i = 0; i < sure.data.length; i++) sure.data[i] = difference.data[i] < limit ? 1 : 0
  return sure
}

// Darker than the background, of its hue, without edges. The less noise the background has, the fainter the edges that count.
function softShadow({ background, comparison: { light, tint, gradient } }: ComparedImage): Mask {
  const shadow = createMask(light)
  const tintLimit = Math.max(2.5, 4 * background.deviation)
  const steepest = Math.min(1.6, 0.5 + 1.25 * background.deviation)
  for (let i = 0; i < shadow.data.length; i++) {
    const r = light.data[i]
    shadow.data[i] = r > 0.55 && r < 1 && tint.data[i] < tintLimit && gradient.data[i] < steepest ? 1 : 0
  }
  return shadow
}

// Distance from the background, as a share of the long side, within which noise is removed: equals the search depth of shadows.
const DEPTH = 0.07

// Noise gives some background pixels the hue of grey cloth: decide by the surrounding background candidates.
function withoutNoise(image: ComparedImage, background: Mask, inStripes: Mask): ComparedImage {
  const { lab, comparison } = image
  const { deviation } = image.background
  if (deviation <= 0.5) return image
  const near = dilate(background, DEPTH * longSide(background))
  const isOpen = (i: number) =>
    !background.data[i] && !inStripes.data[i] && comparison.tint.data[i] < Math.max(8, 8 * deviation)
  const doubtful = subset(near, isOpen)
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

function without(a: Mask, b: Mask): Mask {
  const out = createMask(a)
  for (let i = 0; i < out.data.length; i++) out.data[i] = a.data[i] & ~b.data[i]
  return out
}
