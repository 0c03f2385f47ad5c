import { describe, expect, it } from 'vitest'
import { measureBody } from '../../../../worker/vision/body/body-frame.ts'
import { findParts, type Parts } from '../../../../worker/vision/body/parts.ts'
import { countSet, maskWhere, subset } from '../../../../worker/vision/raster/mask.ts'
import type { Bitmap, Mask } from '../../../../worker/vision/raster/plane.ts'
import { ARMS_BENT, COLOURS, type DrawnPerson, drawPerson } from './drawn-person.ts'

const overlap = (a: Mask, b: Mask) => {
  const shared = maskWhere(a, (i) => a.data[i] === 1 && b.data[i] === 1)
  const either = maskWhere(a, (i) => a.data[i] === 1 || b.data[i] === 1)
  return countSet(shared) / countSet(either)
}

const partsOf = ({ photo, person }: DrawnPerson): Parts => findParts(photo, person, measureBody(person))

describe('findParts', () => {
  const drawn = drawPerson()
  const parts = partsOf(drawn)

  it.each(['skin', 'top', 'lower', 'hair'] as const)('finds the drawn %s', (part) => {
    expect(overlap(parts[part], drawn.drawn[part])).toBeGreaterThan(0.93)
  })

  it('assigns each pixel of the person at most one part, and the background none', () => {
    const labelled = (i: number) => parts.skin.data[i] + parts.top.data[i] + parts.lower.data[i] + parts.hair.data[i]
    const wrong = maskWhere(parts.skin, (i) => labelled(i) > (drawn.person.mask.data[i] > 0.5 ? 1 : 0))
    expect(countSet(wrong)).toBe(0)
  })

  it('measures the skin color', () => {
    const [l, a, b] = parts.skinColour ?? [0, 0, 0]
    // CIE Lab of the drawn skin's sRGB (205, 150, 125).
    expect(Math.hypot(l - 66.4, a - 17.2, b - 21.9)).toBeLessThan(3)
    expect(parts.hasFace).toBe(true)
  })

  it('separates black hair from a black top by position', () => {
    const black = drawPerson(ARMS_BENT, { top: COLOURS.hair })
    const { top, hair } = partsOf(black)
    expect(overlap(top, black.drawn.top)).toBeGreaterThan(0.9)
    expect(overlap(hair, black.drawn.hair)).toBeGreaterThan(0.9)
  })

  it('finds high-waisted trousers with stripes in the color of the top', () => {
    const striped = paintLower(drawn, { from: 0.65, colourOf: (y) => (y % 16 < 8 ? COLOURS.top : [235, 235, 235]) })
    const { lower, top, waistline } = partsOf({ ...drawn, photo: striped })
    expect(waistline).toBeCloseTo(0.65, 1)
    const below = maskWhere(lower, (i) => drawn.drawn.top.data[i] + drawn.drawn.lower.data[i] > 0 && isBelow(i, 0.68))
    expect(countSet(subset(below, (i) => lower.data[i] === 1))).toBeGreaterThan(0.93 * countSet(below))
    const above = subset(drawn.drawn.top, (i) => !isBelow(i, 0.62))
    expect(countSet(subset(above, (i) => top.data[i] === 1))).toBeGreaterThan(0.93 * countSet(above))
  })

  it('assigns a band along the hem to the top, even if its color is closer to the trousers', () => {
    const white = drawPerson(undefined, { top: [20, 20, 20], lower: [120, 150, 190] })
    const banded = paintLower(white, { from: 0.65, colourOf: (y) => (y < 334 ? [170, 170, 170] : [120, 150, 190]) })
    expect(partsOf({ ...white, photo: banded }).waistline).toBeCloseTo((334 - 200) / 160, 1)
  })

  it('finds no waistline in a dress, and the hem of a top worn over trousers', () => {
    const dress = paintLower(drawn, { from: 0, colourOf: () => COLOURS.top })
    expect(partsOf({ ...drawn, photo: dress }).waistline).toBeNull()
    // The drawn top ends at y = 385.
    expect(parts.waistline).toBeCloseTo((385 - 200) / 160, 1)
  })

  it('measures positions in body coordinates', () => {
    const at = (x: number, y: number) => y * 480 + x
    expect(parts.along.data[at(240, 200)]).toBeCloseTo(0)
    expect(parts.along.data[at(100, 360)]).toBeCloseTo(1)
    expect(parts.across.data[at(300, 500)]).toBeCloseTo(0.5)
    expect(parts.across.data[at(180, 90)]).toBeCloseTo(-0.5)
  })
})

const isBelow = (i: number, fraction: number) => Math.floor(i / 480) > 200 + 160 * fraction

// Clothes below the body coordinate F, by row of the photo.
function paintLower(
  { photo, drawn }: DrawnPerson,
  { from, colourOf }: { from: number; colourOf: (y: number) => readonly number[] },
): Bitmap {
  const data = Uint8Array.from(photo.data)
  for (let i = 0; i < drawn.top.data.length; i++)
    if (drawn.top.data[i] + drawn.lower.data[i] > 0 && isBelow(i, from)) data.set(colourOf(Math.floor(i / 480)), i * 3)
  return { ...photo, data }
}
