import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readPair } from '../../../../scripts/quality/pair.ts'
import { INDEX_BASE, MIDDLE_BASE, PINKY_BASE, WRIST } from '../../../../worker/vision/person/hand.ts'
import { drawHands, segmentHand } from '../../../../worker/vision/person/hand-area.ts'
import { rgbToLab } from '../../../../worker/vision/raster/colour.ts'
import { maskWhere } from '../../../../worker/vision/raster/mask.ts'
import { type Bitmap, bitmapToColours, createPlane, type Mask } from '../../../../worker/vision/raster/plane.ts'
import { createPyramid } from '../../../../worker/vision/raster/pyramid.ts'
import { dot, subtract } from '../../../../worker/vision/raster/vector.ts'
import { personIn } from '../../../support/vision.ts'

const FIXTURES = join(import.meta.dirname, '../../../fixtures')
const PINK = [238, 150, 175] as const

// The share of the pixels in `region` that are drawn as hand.
function shareIn({ data }: { data: Float32Array }, region: Mask): number {
  const inside = [...data].filter((_, i) => region.data[i] === 1)
  return inside.filter((share) => share > 0.5).length / inside.length
}

it('does not take the pocket in front of the fingers for the hand', async () => {
  const { figure } = await readPair(FIXTURES, { person: 'sue-check', garment: 'jeans_blue', part: 'lower' })
  const [hand] = (await personIn(figure.bitmap)).hands
  const { points } = hand
  const { width } = figure.bitmap
  const [from, to] = [points[WRIST], points[MIDDLE_BASE]]
  const way = subtract(to, from)
  // Everything around the hand is cloth, and the pocket begins in the middle of the palm.
  const near = maskWhere(figure.bitmap, (i) => Math.hypot((i % width) - to.x, Math.floor(i / width) - to.y) < 90)
  const seen = drawHands(createPlane(figure.bitmap), [hand])
  const isBelow = (i: number) =>
    dot(subtract({ x: i % width, y: Math.floor(i / width) }, from), way) > 0.6 * dot(way, way)
  const painted: Bitmap = { ...figure.bitmap, data: figure.bitmap.data.slice() }
  const cloth = maskWhere(near, (i) => near.data[i] === 1 && (seen.data[i] < 0.05 || isBelow(i)))
  for (let i = 0; i < cloth.data.length; i++) if (cloth.data[i]) painted.data.set(PINK, i * painted.channels)

  const palm = maskWhere(near, (i) => seen.data[i] > 0.9 && !isBelow(i))
  const fingers = maskWhere(near, (i) => seen.data[i] > 0.9 && isBelow(i))
  const lab = rgbToLab(bitmapToColours(painted))
  const i = palm.data.indexOf(1)
  const skin = [lab.data[3 * i], lab.data[3 * i + 1], lab.data[3 * i + 2]] as const
  const found = drawHands(createPlane(painted), [segmentHand(createPyramid(painted), points, skin)])
  expect(shareIn(found, palm)).toBeGreaterThan(0.9)
  expect(shareIn(found, fingers)).toBeLessThan(0.1)
})

it('does not take the dark line below a cuff for the hand', async () => {
  const { figure } = await readPair(FIXTURES, { person: 'sue-check', garment: 'jeans_blue', part: 'lower' })
  const [hand] = (await personIn(figure.bitmap)).hands
  const { points } = hand
  const { width } = figure.bitmap
  const [from, to] = [points[WRIST], points[MIDDLE_BASE]]
  const way = subtract(to, from)
  const length = Math.hypot(way.x, way.y)
  // In px from the wrist towards the fingers.
  const along = (i: number) => dot(subtract({ x: i % width, y: Math.floor(i / width) }, from), way) / length
  const seen = drawHands(createPlane(figure.bitmap), [hand])
  const near = maskWhere(figure.bitmap, (i) => Math.hypot((i % width) - from.x, Math.floor(i / width) - from.y) < 90)
  const end = 0.4 * length
  const painted: Bitmap = { ...figure.bitmap, data: figure.bitmap.data.slice() }
  const isLine = (i: number) => along(i) >= end && along(i) < end + 2
  for (let i = 0; i < near.data.length; i++) {
    if (near.data[i] && along(i) < end) painted.data.set(PINK, i * painted.channels)
    else if (seen.data[i] > 0.5 && isLine(i))
      painted.data.set(
        [...painted.data.subarray(i * painted.channels, i * painted.channels + 3)].map((v) => 0.6 * v),
        i * painted.channels,
      )
  }

  const found = drawHands(createPlane(painted), [segmentHand(createPyramid(painted), points, null)])
  // A spread thumb may begin before the line.
  const [thumbSide, otherSide] = [INDEX_BASE, PINKY_BASE].map(
    (k) => (i: number) => Math.hypot((i % width) - points[k].x, Math.floor(i / width) - points[k].y),
  )
  const line = maskWhere(near, (i) => seen.data[i] > 0.9 && isLine(i) && otherSide(i) < thumbSide(i))
  const palm = maskWhere(near, (i) => seen.data[i] > 0.9 && along(i) > end + 0.2 * length)
  expect(shareIn(found, line)).toBeLessThan(0.2)
  expect(shareIn(found, palm)).toBeGreaterThan(0.9)
})
