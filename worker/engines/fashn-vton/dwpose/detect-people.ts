import type { Tensor } from '../../../inference/session.ts'
import type { Box } from '../../../vision/person/person.ts'
import { type Bytes, createBytes } from '../../../vision/raster/bytes.ts'
import type { Size } from '../../../vision/raster/plane.ts'
import { roundHalfEven } from '../rounding.ts'

/** Grey padding of the canvas outside the bitmap. */
const GREY = 114
const STRIDES = [8, 16, 32]
/** Columns of a row: x, y, width, height, objectness, and each class. */
const OBJECT = 4
const PERSON = 5
const MIN_SCORE = 0.1
const MIN_PERSON = 0.3
const MAX_OVERLAP = 0.45

/** Input of the detector: the bitmap in the upper left, blue first, 1 × 3 × height × width from 0 to 255, and the scale factor. */
export function letterbox(bitmap: Bytes, canvas: Size): { tensor: Tensor; scale: number } {
  const scale = Math.min(canvas.height / bitmap.height, canvas.width / bitmap.width)
  const resized = resizeBilinear(bitmap, {
    width: Math.max(1, Math.trunc(bitmap.width * scale)),
    height: Math.max(1, Math.trunc(bitmap.height * scale)),
  })
  const pixels = canvas.width * canvas.height
  const data = new Float32Array(3 * pixels).fill(GREY)
  for (let y = 0, from = 0; y < resized.height; y++) {
    for (let x = 0; x < resized.width; x++, from += 3) {
      for (let c = 0; c < 3; c++) data[c * pixels + y * canvas.width + x] = resized.data[from + 2 - c]
    }
  }
  return { tensor: { shape: [1, 3, canvas.height, canvas.width], data }, scale }
}

/**
 * Decodes the raw output of a YOLOX detector, 1 × cells × columns, to people in px of a bitmap that was scaled by `scale`; highest score
 * first.
 * Source: Ge et al. 2021, "YOLOX", with the thresholds of DWPose.
 */
export function decodePeople({ shape: [, , columns], data }: Tensor, canvas: Size, scale: number): Box[] {
  const found: { box: Box; score: number }[] = []
  for (const [i, { stride, x, y }] of cellsOf(canvas).entries()) {
    const at = i * columns
    const score = data[at + OBJECT] * data[at + PERSON]
    if (!(score > MIN_SCORE)) continue
    const width = (Math.exp(data[at + 2]) * stride) / scale
    const height = (Math.exp(data[at + 3]) * stride) / scale
    const [middle, centre] = [((data[at] + x) * stride) / scale, ((data[at + 1] + y) * stride) / scale]
    found.push({ box: { x: middle - width / 2, y: centre - height / 2, width, height }, score })
  }
  return withoutOverlaps(found)
    .filter(({ score }) => score > MIN_PERSON)
    .map(({ box }) => box)
}

/** Number of output rows of a detector with this canvas. */
export function countCells(canvas: Size): number {
  return STRIDES.reduce((sum, stride) => sum + (canvas.width / stride) * (canvas.height / stride), 0)
}

function cellsOf({ width, height }: Size): { stride: number; x: number; y: number }[] {
  return STRIDES.flatMap((stride) =>
    Array.from({ length: (width / stride) * (height / stride) }, (_, i) => ({
      stride,
      x: i % (width / stride),
      y: Math.floor(i / (width / stride)),
    })),
  )
}

function withoutOverlaps<T extends { box: Box; score: number }>(found: readonly T[]): T[] {
  const kept: T[] = []
  for (const one of found.toSorted((a, b) => b.score - a.score))
    if (kept.every((other) => overlap(one.box, other.box) <= MAX_OVERLAP)) kept.push(one)
  return kept
}

/** Corners count as pixels, as in the published decoder. */
function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) + 1
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) + 1
  const shared = Math.max(0, width) * Math.max(0, height)
  return shared / ((a.width + 1) * (a.height + 1) + (b.width + 1) * (b.height + 1) - shared)
}

/** Interpolates between the four nearest pixels, without averaging on reduction, as in the detector's training. */
function resizeBilinear(bitmap: Bytes, size: Size): Bytes {
  const out = createBytes(size, 3)
  const columns = tapsBetween(bitmap.width, size.width)
  const rows = tapsBetween(bitmap.height, size.height)
  const value = (x: number, y: number, c: number) => bitmap.data[(y * bitmap.width + x) * 3 + c]
  for (let y = 0, to = 0; y < size.height; y++) {
    const row = rows[y]
    for (let x = 0; x < size.width; x++) {
      const column = columns[x]
      for (let c = 0; c < 3; c++, to++) {
        const [a, b] = [value(column.first, row.first, c), value(column.second, row.first, c)]
        const [d, e] = [value(column.first, row.second, c), value(column.second, row.second, c)]
        const upper = a + (b - a) * column.share
        out.data[to] = roundHalfEven(upper + (d + (e - d) * column.share - upper) * row.share)
      }
    }
  }
  return out
}

function tapsBetween(from: number, to: number): { first: number; second: number; share: number }[] {
  return Array.from({ length: to }, (_, i) => {
    const at = Math.min(Math.max(((i + 0.5) * from) / to - 0.5, 0), from - 1)
    const first = Math.floor(at)
    return { first, second: Math.min(first + 1, from - 1), share: at - first }
  })
}
