import { invert, maskWhere, threshold, union, without } from '../../../vision/raster/mask.ts'
import { createPlane, type Mask, type Plane } from '../../../vision/raster/plane.ts'
import type { TrainedCategory } from '../category.ts'
import { anyOf, COVERED, type Label, type Labels } from '../parser/labels.ts'
import { chamferDistance } from './chamfer.ts'
import { fillFromCorner, growEllipse, growRectangle } from './grow.ts'

// Lengths in px of a bitmap that is 864 px high.
const HEIGHT = 864
const BUFFER = 4
const CONTOUR = 18
const FARTHEST = 100
const BESIDE = 33
const ABOVE = 16
/** Smoothing of the contour as a share of its radius. */
const SMOOTHNESS = 2.5
const ALWAYS_KEPT: readonly Label[] = ['face', 'hair', 'jewelry', 'bag', 'glasses', 'hat']

/**
 * The region of a person's photo to fill so that the worn garment is not visible: the garment, the limbs that it can cover, and the
 * surroundings that another garment can reach, except protected regions. Empty if no such garment or limb is visible.
 * Source: FASHN VTON v1.5 at 7c0f10a. Equals its masks pixel by pixel, including its quirk that holes are filled from the upper left
 * corner alone.
 */
export function agnosticMask(labels: Labels, category: TrainedCategory): Mask {
  const { clothes, upper, lower } = COVERED[category]
  const scale = labels.height / HEIGHT
  const px = (length: number) => Math.trunc(length * scale)
  const limbs: Label[] = [...(upper ? (['arms', 'torso'] as const) : []), ...(lower ? (['legs'] as const) : [])]
  const region = anyOf(labels, [...clothes, ...limbs])
  const box = rectangleOf(region)
  if (!box) return region

  const side = Math.max(1, px(BUFFER))
  const after = Math.trunc(side / 2)
  const buffer = growRectangle(region, { left: side - 1 - after, right: after, up: side - 1 - after, down: after })
  const hybrid = withoutFar(box, contourOf(region, Math.max(1, px(CONTOUR))), Math.fround(FARTHEST * scale))
  const work = growRectangle(hybrid, { left: px(BESIDE), right: px(BESIDE), up: px(ABOVE), down: px(ABOVE) })
  const kept = anyOf(labels, keptLabels(upper, lower))
  return union(buffer, without(work, kept))
}

function keptLabels(upper: boolean, lower: boolean): Label[] {
  const others: Label[] = []
  if (!lower) others.push('legs')
  if (!upper) others.push('arms')
  if (upper) others.push('hands')
  if (lower) others.push('feet')
  return [...ALWAYS_KEPT, ...others]
}

function rectangleOf(mask: Mask): Mask | null {
  const set = [...mask.data.keys()].filter((i) => mask.data[i])
  if (set.length === 0) return null
  const xs = set.map((i) => i % mask.width)
  const [left, right] = [xs.reduce((a, b) => Math.min(a, b)), xs.reduce((a, b) => Math.max(a, b))]
  const [top, bottom] = [set[0], set[set.length - 1]].map((i) => Math.floor(i / mask.width))
  return maskWhere(mask, (i) => {
    const [x, y] = [i % mask.width, Math.floor(i / mask.width)]
    return x >= left && x <= right && y >= top && y <= bottom
  })
}

/** The region with a smooth outline and without holes. */
function contourOf(region: Mask, radius: number): Mask {
  const grown = growEllipse(region, radius)
  const [outside, inside] = [chamferDistance(grown), chamferDistance(invert(grown))]
  const signed = { ...outside, data: outside.data.map((value, i) => value - inside.data[i]) }
  const smooth = blur(signed, radius / SMOOTHNESS)
  const filled = fillFromCorner(invert(threshold(smooth, 0)))
  return union(filled, region)
}

/** The box without the pixels that are too far from the contour. */
function withoutFar(box: Mask, contour: Mask, farthest: number): Mask {
  const distance = chamferDistance(contour)
  return without(box, without(threshold(distance, farthest), contour))
}

/** Gaussian with OpenCV's kernel width and a replicated border. */
function blur(plane: Plane, sigma: number): Plane {
  const size = Math.round(sigma * 8 + 1) | 1
  const weights = Array.from({ length: size }, (_, i) => Math.exp(-0.5 * ((i - (size >> 1)) / sigma) ** 2))
  const sum = weights.reduce((total, weight) => total + weight, 0)
  const kernel = Float32Array.from(weights, (weight) => weight / sum)
  const { width, height } = plane
  const across = blurLines(plane, kernel, { lines: height, length: width, step: 1, next: width })
  return blurLines(across, kernel, { lines: width, length: height, step: width, next: 1 })
}

function blurLines(
  plane: Plane,
  kernel: Float32Array,
  { lines, length, step, next }: { lines: number; length: number; step: number; next: number },
): Plane {
  const out = createPlane(plane)
  const half = kernel.length >> 1
  for (let line = 0; line < lines; line++) {
    for (let at = 0; at < length; at++) {
      let sum = 0
      for (let k = 0; k < kernel.length; k++) {
        const from = Math.min(Math.max(at + k - half, 0), length - 1)
        sum += kernel[k] * plane.data[line * next + from * step]
      }
      out.data[line * next + at * step] = sum
    }
  }
  return out
}
