import { cropBitmap } from '../../../api/shared/image/image.ts'
import { type Lab, rgbToLab } from '../raster/colour.ts'
import { windowAround } from '../raster/crop.ts'
import { erode } from '../raster/morphology.ts'
import { bitmapToColours, type Point } from '../raster/plane.ts'
import { fillPolygon } from '../raster/polygon.ts'
import { levelFor, type Pyramid } from '../raster/pyramid.ts'
import { medianOf } from '../raster/statistics.ts'

// Height in px at which the colour of a face is measured, and the share of it that its edge is excluded by.
const HEIGHT = 48
const EDGE = 0.12

/** Median colour of a face inside its outline (px of the pyramid's bitmap), in CIE Lab; null if it is outside of the bitmap. */
export function faceColour(pyramid: Pyramid, outline: readonly Point[]): Lab | null {
  const ys = outline.map(({ y }) => y)
  const height = Math.max(...ys) - Math.min(...ys)
  const level = levelFor(Math.max(1, height), HEIGHT)
  const bitmap = pyramid.level(level)
  const small = outline.map(({ x, y }) => ({ x: x / 2 ** level, y: y / 2 ** level }))
  const window = windowAround(small, 0, bitmap)
  if (window.width === 0 || window.height === 0) return null
  const lab = rgbToLab(bitmapToColours(cropBitmap(bitmap, window)))
  const inside = fillPolygon(
    window,
    small.map(({ x, y }) => ({ x: x - window.x, y: y - window.y })),
  )
  const middle = erode(inside, EDGE * window.height)
  return [medianOf(lab, middle, 0), medianOf(lab, middle, 1), medianOf(lab, middle, 2)]
}
