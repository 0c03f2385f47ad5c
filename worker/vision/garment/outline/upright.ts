import { connectedComponents, largestComponent } from '../../raster/components.ts'
import { followContour } from '../../raster/contour.ts'
import { gaussianBlur } from '../../raster/filter.ts'
import { threshold } from '../../raster/mask.ts'
import { type Mask, maskToPlane, type Plane, type Point } from '../../raster/plane.ts'
import {
  type Affine,
  applyAffine,
  composeAffine,
  invertAffine,
  resizeAreaPlane,
  warpAffinePlane,
} from '../../raster/sample.ts'
import { findSymmetry, type Symmetry } from './symmetry.ts'

/** A square canvas with the garment upright around the column `axis`, at the photo's own scale. */
export interface Canvas {
  /** Width and height in px. */
  readonly side: number
  readonly axis: number
  /** Canvas px → photo px. */
  readonly toImage: Affine
}

/**
 * A garment's outline on a canvas of fixed size: x counts px from the symmetry axis, positive to the right of the image; y
 * counts px from the top of the canvas.
 */
export interface Shape {
  /** Closed, clockwise on the screen, a point per border pixel. */
  readonly contour: readonly Point[]
  /** Row-major; column = x + `axis`. */
  readonly mask: Mask
  readonly axis: number
  readonly top: number
  readonly height: number
  readonly width: number
}

export interface UprightGarment {
  readonly symmetry: Symmetry
  readonly canvas: Canvas
  readonly shape: Shape
  /** Areas of all pieces of the cutout, in any unit. */
  readonly pieces: readonly number[]
  /** px of the shape's canvas → px of `canvas`. */
  readonly toCanvas: (point: Point) => Point
}

const SHAPE_SIDE = 512
const MARGIN = 0.03
// Min rotation in degrees: a smaller one is not corrected, because resampling would only blur.
const MIN_DEGREES = 0.75

/** Rotates the largest piece of a cutout upright. `alpha` is 0 to 1 and must not be empty. */
export function standUpright(alpha: Plane): UprightGarment {
  const reduction = Math.min(1, SHAPE_SIDE / Math.max(alpha.width, alpha.height))
  const small = resizeAreaPlane(alpha, {
    width: Math.max(1, Math.round(alpha.width * reduction)),
    height: Math.max(1, Math.round(alpha.height * reduction)),
  })
  const opaque = threshold(small, 0.5)
  const piece = largestComponent(opaque)
  const symmetry = findSymmetry(piece)
  const toSmall: Affine = scaling(small.width / alpha.width, small.height / alpha.height)
  const canvas = canvasAround(piece, symmetry, invertAffine(toSmall))
  const zoom = canvas.side / SHAPE_SIDE
  const toCanvas = scaling(zoom, zoom)
  const axis = applyAffine(invertAffine(toCanvas), { x: canvas.axis, y: 0 }).x
  const shapeToSmall = composeAffine(toSmall, composeAffine(canvas.toImage, toCanvas))
  return {
    symmetry,
    canvas,
    pieces: connectedComponents(opaque).components.map(({ area }) => area),
    shape: drawShape(piece, shapeToSmall, axis),
    toCanvas: ({ x, y }) => applyAffine(toCanvas, { x: x + axis, y }),
  }
}

function drawShape(piece: Mask, toSmall: Affine, axis: number): Shape {
  const drawn = warpAffinePlane(maskToPlane(piece), toSmall, { width: SHAPE_SIDE, height: SHAPE_SIDE })
  return shapeOf(largestComponent(threshold(gaussianBlur(drawn, 2), 0.5)), axis)
}

/** The shape of one piece, around the column `axis`. */
export function shapeOf(mask: Mask, axis: number): Shape {
  const contour = followContour(mask).map(({ x, y }) => ({ x: x - axis, y }))
  const { left, top, right, bottom } = boundsOf(contour)
  return { contour, mask, axis, top, height: bottom - top, width: right - left }
}

// Square, with the axis in the middle column and equal margins around the garment.
function canvasAround(piece: Mask, { angle, centre }: Symmetry, toImage: Affine): Canvas {
  const turned = Math.abs(angle) < MIN_DEGREES ? 0 : (angle * Math.PI) / 180
  const cos = Math.cos(turned)
  const sin = Math.sin(turned)
  const origin = applyAffine(toImage, centre)
  const outline = followContour(piece).map((p) => {
    const { x, y } = applyAffine(toImage, p)
    const dx = x - origin.x
    const dy = y - origin.y
    return { x: dx * cos - dy * sin, y: dx * sin + dy * cos }
  })
  const { left, top, right, bottom } = boundsOf(outline)
  const extent = Math.max(2 * Math.max(-left, right), bottom - top)
  const side = Math.ceil(extent * (1 + 2 * MARGIN)) + 2
  let axis = (side - 1) / 2
  let row = (side - 1) / 2 - (top + bottom) / 2
  if (turned === 0) {
    // An offset of whole px between canvas and photo preserves every pixel.
    axis += origin.x - axis - Math.round(origin.x - axis)
    row += origin.y - row - Math.round(origin.y - row)
  }
  return {
    side,
    axis,
    toImage: [cos, sin, origin.x - cos * axis - sin * row, -sin, cos, origin.y + sin * axis - cos * row],
  }
}

// Scales about pixel corners: the half pixel at the border stays a half pixel.
function scaling(x: number, y: number): Affine {
  return [x, 0, (x - 1) / 2, 0, y, (y - 1) / 2]
}

/** The smallest box with all points. */
export function boundsOf(points: readonly Point[]): { left: number; top: number; right: number; bottom: number } {
  let left = Number.POSITIVE_INFINITY
  let top = Number.POSITIVE_INFINITY
  let right = Number.NEGATIVE_INFINITY
  let bottom = Number.NEGATIVE_INFINITY
  for (const { x, y } of points) {
    left = Math.min(left, x)
    right = Math.max(right, x)
    top = Math.min(top, y)
    bottom = Math.max(bottom, y)
  }
  return { left, top, right, bottom }
}
