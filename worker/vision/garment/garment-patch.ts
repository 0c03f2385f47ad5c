import { rgbToLab } from '../raster/colour.ts'
import { gaussianBlurColours } from '../raster/filter.ts'
import { type Colours, createPlane, type Pixels, type Plane, type Point } from '../raster/plane.ts'
import { resizeAreaColours } from '../raster/sample.ts'
import { distance } from '../raster/vector.ts'

/** A part of a garment's bitmap at its own scale, in a colour space with measurable differences. */
export interface GarmentPatch {
  /** CIE Lab times cover: 0 outside the garment. */
  readonly lab: Colours
  /** 0 to 1. */
  readonly cover: Plane
  readonly toPatch: (point: Point) => Point
  readonly toImage: (point: Point) => Point
}

/** Bounds in px of the image; x1 and y1 are exclusive. */
interface Bounds {
  readonly x0: number
  readonly y0: number
  readonly x1: number
  readonly y1: number
}

/** Cuts a region out of a premultiplied RGBA image; `scale` is px of the patch per px of the image, at most 1. */
export function cutPatch(image: Pixels, bounds: Bounds, scale: number): GarmentPatch {
  const x0 = Math.max(0, Math.floor(bounds.x0))
  const y0 = Math.max(0, Math.floor(bounds.y0))
  const region = crop(image, {
    x0,
    y0,
    x1: Math.min(image.width, Math.ceil(bounds.x1)),
    y1: Math.min(image.height, Math.ceil(bounds.y1)),
  })
  const reduction = Math.min(1, scale)
  const size = {
    width: Math.max(2, Math.round(region.width * reduction)),
    height: Math.max(2, Math.round(region.height * reduction)),
  }
  const sx = size.width / region.width
  const sy = size.height / region.height
  return {
    ...describeColours(resizeAreaColours(region, size)),
    toPatch: ({ x, y }) => ({ x: (x - x0 + 0.5) * sx - 0.5, y: (y - y0 + 0.5) * sy - 0.5 }),
    toImage: ({ x, y }) => ({ x: (x + 0.5) / sx - 0.5 + x0, y: (y + 0.5) / sy - 0.5 + y0 }),
  }
}

function crop({ width, data }: Pixels, { x0, y0, x1, y1 }: Bounds): Colours {
  const stride = (x1 - x0) * 4
  const out = new Float32Array(stride * (y1 - y0))
  for (let y = y0; y < y1; y++) out.set(data.subarray((y * width + x0) * 4, (y * width + x1) * 4), (y - y0) * stride)
  return { width: x1 - x0, height: y1 - y0, channels: 4, data: out }
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
  return { lab: gaussianBlurColours(lab, 0.8), cover }
}

/** The region around the collar at a fixed scale. */
export interface CollarPatch extends GarmentPatch {
  /** Neck corners in px of the patch, and their distance. */
  readonly corners: readonly [Point, Point]
  readonly width: number
}

const PATCH_WIDTH = 100

/** Cuts the region out of a premultiplied RGBA image, so that the neck corners lie about 100 px apart. */
export function collarPatch(image: Pixels, [left, right]: readonly [Point, Point]): CollarPatch {
  const width = distance(left, right)
  const bounds = {
    x0: Math.min(left.x, right.x) - 0.6 * width,
    x1: Math.max(left.x, right.x) + 0.6 * width,
    y0: Math.min(left.y, right.y) - 0.3 * width,
    y1: Math.max(left.y, right.y) + 2.2 * width,
  }
  const patch = cutPatch(image, bounds, PATCH_WIDTH / Math.max(1, width))
  const corners = [patch.toPatch(left), patch.toPatch(right)] as const
  return { ...patch, corners, width: distance(...corners) }
}
