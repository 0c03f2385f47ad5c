import { rgbToLab } from '../raster/colour.ts'
import { gaussianBlurColours } from '../raster/filter.ts'
import { type Colours, createPlane, type Plane, type Point } from '../raster/plane.ts'
import { resizeAreaColours } from '../raster/sample.ts'
import { distance, perpendicular, subtract, unit } from '../raster/vector.ts'

/** The region around the collar at a fixed scale, in colours whose differences can be measured. */
export interface CollarPatch {
  /** CIE Lab times cover, so that outside of the garment everything is 0. */
  readonly lab: Colours
  /** 0 to 1. */
  readonly cover: Plane
  /** Neck corners in px of the patch, and their distance. */
  readonly corners: readonly [Point, Point]
  readonly width: number
  /** How far before and behind a curve its two sides are compared, in px. */
  readonly reach: number
  readonly toImage: (point: Point) => Point
}

/** y = depth · width · (1 − |t|^power) below the line between the corners, t from −1 to 1: 1 is a V, 3 nearly a U. */
export interface CollarCurve {
  readonly depth: number
  readonly power: number
}

/** Points on a neckline. */
export const SAMPLES = 61

const PATCH_WIDTH = 72

/** Cuts the region out of a premultiplied RGBA image, so that the neck corners lie about 72 px apart. */
export function collarPatch(image: Colours, [left, right]: readonly [Point, Point]): CollarPatch {
  const width = distance(left, right)
  const x0 = Math.max(0, Math.floor(Math.min(left.x, right.x) - 0.3 * width))
  const x1 = Math.min(image.width, Math.ceil(Math.max(left.x, right.x) + 0.3 * width))
  const y0 = Math.max(0, Math.floor(Math.min(left.y, right.y) - 0.3 * width))
  const y1 = Math.min(image.height, Math.ceil(Math.max(left.y, right.y) + 2.5 * width))
  const region = crop(image, { x0, y0, x1, y1 })
  const scale = Math.min(1, PATCH_WIDTH / Math.max(1, width))
  const size = {
    width: Math.max(2, Math.round(region.width * scale)),
    height: Math.max(2, Math.round(region.height * scale)),
  }
  const sx = size.width / region.width
  const sy = size.height / region.height
  const toPatch = ({ x, y }: Point) => ({ x: (x - x0 + 0.5) * sx - 0.5, y: (y - y0 + 0.5) * sy - 0.5 })
  const corners = [toPatch(left), toPatch(right)] as const
  const between = distance(corners[0], corners[1])
  return {
    ...describeColours(resizeAreaColours(region, size)),
    corners,
    width: between,
    reach: Math.max(2.5, 0.035 * between),
    toImage: ({ x, y }) => ({ x: (x + 0.5) / sx - 0.5 + x0, y: (y + 0.5) / sy - 0.5 + y0 }),
  }
}

function crop(
  { width, data }: Colours,
  { x0, y0, x1, y1 }: { x0: number; y0: number; x1: number; y1: number },
): Colours {
  const out: Colours = {
    width: x1 - x0,
    height: y1 - y0,
    channels: 4,
    data: new Float32Array((x1 - x0) * (y1 - y0) * 4),
  }
  for (let y = y0; y < y1; y++)
    out.data.set(data.subarray((y * width + x0) * 4, (y * width + x1) * 4), (y - y0) * out.width * 4)
  return out
}

function describeColours(premultiplied: Colours): { lab: Colours; cover: Plane } {
  const cover = createPlane(premultiplied)
  const straight: Colours = { ...premultiplied, channels: 3, data: new Float32Array(cover.data.length * 3) }
  for (let i = 0; i < cover.data.length; i++) {
    cover.data[i] = premultiplied.data[4 * i + 3] / 255
    const share = Math.max(1e-3, cover.data[i])
    for (let c = 0; c < 3; c++) straight.data[3 * i + c] = premultiplied.data[4 * i + c] / share
  }
  const lab = rgbToLab(straight)
  for (let i = 0; i < cover.data.length; i++) for (let c = 0; c < 3; c++) lab.data[3 * i + c] *= cover.data[i]
  return { lab: gaussianBlurColours(lab, 1), cover }
}

/** The curve's points and unit normals (to the side of the front) in px of the patch; `share` of 1 reaches the corners. */
export function curvePoints(
  { corners: [left, right], width }: CollarPatch,
  { depth, power }: CollarCurve,
  share: number,
): { x: Float64Array; y: Float64Array; normalX: Float64Array; normalY: Float64Array } {
  const along = unit(subtract(right, left))
  const down = perpendicular(along)
  const x = new Float64Array(SAMPLES)
  const y = new Float64Array(SAMPLES)
  for (let i = 0; i < SAMPLES; i++) {
    const t = (2 * i) / (SAMPLES - 1) - 1
    const across = (t * width * share) / 2
    const fall = depth * width * (1 - Math.abs(t) ** power)
    x[i] = (left.x + right.x) / 2 + along.x * across + down.x * fall
    y[i] = (left.y + right.y) / 2 + along.y * across + down.y * fall
  }
  const normalX = new Float64Array(SAMPLES)
  const normalY = new Float64Array(SAMPLES)
  for (let i = 0; i < SAMPLES; i++) {
    const before = Math.max(0, i - 1)
    const after = Math.min(SAMPLES - 1, i + 1)
    const dx = x[after] - x[before]
    const dy = y[after] - y[before]
    const length = Math.max(1e-9, Math.sqrt(dx * dx + dy * dy))
    normalX[i] = -dy / length
    normalY[i] = dx / length
  }
  return { x, y, normalX, normalY }
}

/** ΔE between two places of the patch. */
export function colourStep(
  { lab }: CollarPatch,
  [ax, ay]: readonly [number, number],
  [bx, by]: readonly [number, number],
): number {
  let sum = 0
  for (let c = 0; c < 3; c++) sum += (sampleChannel(lab, c, ax, ay) - sampleChannel(lab, c, bx, by)) ** 2
  return Math.sqrt(sum)
}

/** Cover at a place of the patch, 0 to 1. */
export function coverOn({ cover }: CollarPatch, x: number, y: number): number {
  return sampleChannel({ ...cover, channels: 1 }, 0, x, y)
}

function sampleChannel(
  { width, height, channels, data }: { width: number; height: number; channels: number; data: Float32Array },
  channel: number,
  x: number,
  y: number,
): number {
  const cx = Math.min(Math.max(x, 0), width - 1.001)
  const cy = Math.min(Math.max(y, 0), height - 1.001)
  const fx = cx - (cx | 0)
  const fy = cy - (cy | 0)
  const i = ((cy | 0) * width + (cx | 0)) * channels + channel
  const below = i + width * channels
  const top = data[i] + (data[i + channels] - data[i]) * fx
  return top + (data[below] + (data[below + channels] - data[below]) * fx - top) * fy
}
