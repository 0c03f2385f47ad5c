import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../../api/shared/image/image.ts'
import type { PreparedUpperGarment } from '../../../../../worker/vision/garment/prepare-garment.ts'
import type { Bitmap, Point } from '../../../../../worker/vision/raster/plane.ts'
import { interpolate } from '../../../../../worker/vision/raster/polyline.ts'
import { CUTS, drawGarment } from '../drawn-garments.ts'
import { readGarment, turnGarment } from '../known-garments.ts'
import { prepareGarment } from '../prepare-by-outline.ts'

const BACKGROUND = [236, 232, 226] as const

function prepareUpper(bitmap: Bitmap): PreparedUpperGarment {
  const prepared = prepareGarment(bitmap, { category: null })
  if (prepared.kind !== 'top' && prepared.kind !== 'dress') throw new Error(`seen as ${prepared.kind}`)
  return prepared
}

async function readBitmap(name: string): Promise<Bitmap> {
  return decodeImage(await readFile(join(import.meta.dirname, '../../../../fixtures/garments', `${name}.jpg`)))
}

/** Width of the opening half way down the front, over the width of the hem. */
function openWidth({ openFront, landmarks: [left, right] }: PreparedUpperGarment): number {
  if (!openFront) return 0
  const y = (left.neck.y + right.neck.y + left.hem.y + right.hem.y) / 4
  const [a, b] = openFront.map((edge) => columnAt(edge, y))
  return (b - a) / (right.hem.x - left.hem.x)
}

function columnAt(edge: readonly Point[], y: number): number {
  return interpolate(
    edge.map((p) => p.y),
    edge.map((p) => p.x),
    y,
  )
}

describe('the front of an open jacket', () => {
  // Half the widths of their slits and of their hems in cm, as they were cut.
  it.each([
    ['jacket_open2', 5.1 / 28],
    ['jacket_red', 5.1 / 28],
    ['open_beige', 9 / 27],
    ['open_narrow', 3.1 / 27],
    ['vest_open', 6.4 / 24],
    ['coat_open', 6.4 / 30],
  ])('is found in %s, with both its edges', async (name, width) => {
    const garment = prepareUpper(await readBitmap(name))
    const { openFront, axis, landmarks, torsoWidth } = garment
    expect(Math.abs(openWidth(garment) - width)).toBeLessThan(0.055)
    for (const side of [0, 1] as const) {
      const edge = openFront?.[side] ?? []
      expect(edge[0]).toEqual(landmarks[side].neck)
      expect(edge[edge.length - 1].y).toBeGreaterThan(landmarks[side].hem.y)
      for (const { x } of edge.slice(1)) {
        expect(Math.sign(x - axis)).toBe(side === 0 ? -1 : 1)
        expect(Math.abs(x - axis)).toBeLessThan(0.3 * torsoWidth)
      }
    }
  })

  it.each([-16, 12])('is found on a jacket turned by %i degrees', async (degrees) => {
    const { bitmap } = turnGarment(await readGarment('jacket_red'), degrees)
    expect(Math.abs(openWidth(prepareUpper(bitmap)) - 5.1 / 28)).toBeLessThan(0.06)
  })

  it('defines the neckline', async () => {
    const { openFront, neckline, necklineFound } = prepareUpper(await readBitmap('open_beige'))
    expect(necklineFound).toBe(true)
    expect(neckline[0]).toEqual(openFront?.[0][0])
    expect(neckline[neckline.length - 1]).toEqual(openFront?.[1][0])
  })
})

describe('a closed front', () => {
  it.each(['jacket_closed', 'tee_stripe', 'shut_placket', 'shut_darkpanel', 'shut_zip', 'shut_bars'])(
    'of %s is not detected as open',
    async (name) => {
      expect(prepareUpper(await readBitmap(name)).openFront).toBeNull()
    },
  )

  it.each([
    ['tee', 0.05, 0.012],
    ['tee', 0.06, 0.03],
    ['tee', 0, 0.06],
    ['vNeck', 0.06, 0.03],
    ['longSleeve', 0.05, 0.012],
    ['sleeveless', 0, 0.06],
    ['dress', 0.06, 0.03],
  ] as const)('of the cut %s with printed lines from collar to hem stays closed: %f, %f', (cut, x, width) => {
    const { bitmap } = drawGarment({
      cut: CUTS[cut],
      size: 400,
      colour: [60, 70, 110],
      background: BACKGROUND,
      noise: 1,
      shadow: 0.3,
    })
    expect(prepareUpper(drawBands(bitmap, { x, width })).openFront).toBeNull()
  })
})

// Two lighter bands `x` beside the middle, and `width` wide, as shares of the image, from just below the neckline to the hem.
function drawBands(bitmap: Bitmap, { x, width }: { x: number; width: number }): Bitmap {
  const data = bitmap.data.slice()
  for (let row = Math.round(0.36 * bitmap.height); row < bitmap.height; row++) {
    for (let column = 0; column < bitmap.width; column++) {
      const beside = Math.abs(Math.abs(column / bitmap.width - 0.5) - x)
      const at = (row * bitmap.width + column) * 3
      const isCloth = Math.abs(data[at] - 60) < 30 && Math.abs(data[at + 2] - 110) < 40
      if (beside < width / 2 && isCloth) data.set([190, 180, 150], at)
    }
  }
  return { ...bitmap, data }
}
