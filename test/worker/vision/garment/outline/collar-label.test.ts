import { describe, expect, it } from 'vitest'
import type { Bitmap } from '../../../../../worker/vision/raster/plane.ts'
import { CUTS, drawGarment } from '../drawn-garments.ts'
import { prepareGarment } from '../prepare-by-outline.ts'

const SIDE = 700
const NAVY = [24, 26, 60] as const

/** A dark T-shirt, on whose photo the front's edge is invisible, with rectangles in the middle: [half width, top, bottom] in px. */
function shirtWith(rectangles: readonly (readonly [number, number, number])[]): Bitmap {
  const { bitmap } = drawGarment({
    cut: { ...CUTS.tee, front: CUTS.tee.back },
    colour: NAVY,
    background: [255, 255, 255],
  })
  for (const [half, top, bottom] of rectangles)
    for (let y = top; y < bottom; y++)
      bitmap.data.fill(180, 3 * (y * SIDE + SIDE / 2 - half), 3 * (y * SIDE + SIDE / 2 + half))
  return bitmap
}

/** The lowest point of the neckline below the neck corners, over the distance of the corners. */
function depthOf(photo: Bitmap): number {
  const garment = prepareGarment(photo, { category: 'tops' })
  if (!('neckline' in garment)) throw new Error('not a top')
  const [left, right] = [garment.neckline[0], garment.neckline[garment.neckline.length - 1]]
  const lowest = Math.max(...garment.neckline.map(({ y }) => y))
  return (lowest - (left.y + right.y) / 2) / (right.x - left.x)
}

// The corners are 126 px apart at y = 112; the back's edge is at y = 133.
const LABEL = [20, 136, 150] as const

describe('a label inside the back of a collar', () => {
  it('lies above the front', () => {
    expect(depthOf(shirtWith([LABEL]))).toBeGreaterThan((150 - 112) / 126)
  })
})
