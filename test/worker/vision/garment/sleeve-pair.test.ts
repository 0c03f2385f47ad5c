import { describe, expect, it } from 'vitest'
import type { SideLandmarks, SideOutline } from '../../../../worker/vision/garment/garment.ts'
import { mendSleeves } from '../../../../worker/vision/garment/sleeve-pair.ts'
import type { Point } from '../../../../worker/vision/raster/plane.ts'
import { readGarment } from './known-garments.ts'
import { prepareGarment } from './prepare-by-outline.ts'

const AXIS = 100

/** A half whose sleeve runs through the points, 20 px wide, on the side `sign` of the axis. */
function half(sign: -1 | 1, way: readonly Point[]): { outline: SideOutline; landmarks: SideLandmarks } {
  const place = ({ x, y }: Point, out: number) => ({ x: AXIS + sign * (x + out), y })
  const [outer, inner] = [way.map((p) => place(p, 10)), way.map((p) => place(p, -10))]
  const at = (x: number, y: number) => ({ x: AXIS + sign * x, y })
  return {
    outline: {
      shoulder: [at(10, 0), at(30, 5)],
      sleeve: { outer, inner },
      side: [at(30, 40), at(30, 150)],
      hem: [at(30, 150), at(0, 150)],
    },
    landmarks: {
      neck: at(10, 0),
      shoulder: at(30, 5),
      armpit: at(30, 40),
      hem: at(30, 150),
      sleeveOuter: outer[outer.length - 1],
      sleeveInner: inner[inner.length - 1],
    },
  }
}

function halves(left: readonly Point[], right: readonly Point[]) {
  const [a, b] = [half(-1, left), half(1, right)]
  return {
    sides: [a.outline, b.outline] as const,
    landmarks: [a.landmarks, b.landmarks] as const,
    guessedArmpits: [false, false] as const,
  }
}

const STRAIGHT = [
  { x: 35, y: 20 },
  { x: 80, y: 150 },
]
const BENT = [
  { x: 35, y: 20 },
  { x: 75, y: 70 },
  { x: 45, y: 110 },
]
const SHORT = [
  { x: 35, y: 20 },
  { x: 60, y: 92 },
]
/** A short sleeve, back to the armpit, and down a tie that hangs at the waist. */
const TIED = [
  { x: 35, y: 20 },
  { x: 60, y: 92 },
  { x: 35, y: 60 },
  { x: 45, y: 190 },
]

describe('a folded sleeve', () => {
  it('takes the shape of the other sleeve when a loose tie lengthens it', () => {
    const before = halves(SHORT, TIED)
    const { sides, foldedSleeve } = mendSleeves(before)
    expect(foldedSleeve).toBe(true)
    expect(sides.map(({ sleeve }) => sleeve)).toEqual([before.sides[0].sleeve, before.sides[0].sleeve])
  })

  it.each([
    ['bent', BENT],
    ['turned back', SHORT],
  ])('takes the shape of the other sleeve when %s', (_, way) => {
    const before = halves(STRAIGHT, way)
    const { sides, landmarks, foldedSleeve } = mendSleeves(before)
    expect(foldedSleeve).toBe(true)
    expect(sides[1].sleeve).toEqual(before.sides[0].sleeve)
    expect(sides[0]).toEqual(before.sides[0])
    expect(sides[1].side).toEqual(before.sides[1].side)
    expect(landmarks[1].sleeveOuter).toEqual(before.landmarks[0].sleeveOuter)
    expect(landmarks[1].armpit).toEqual(before.landmarks[1].armpit)
  })

  it('is repaired also on the left', () => {
    const before = halves(BENT, STRAIGHT)
    expect(mendSleeves(before).sides[0].sleeve).toEqual(before.sides[1].sleeve)
  })

  it('is not detected when both sleeves are equal', () => {
    for (const way of [STRAIGHT, BENT, SHORT]) {
      const before = halves(way, way)
      expect(mendSleeves(before)).toEqual({
        sides: before.sides,
        landmarks: before.landmarks,
        foldedSleeve: false,
      })
    }
  })

  it.each([
    ['glued_brown', true],
    ['longsleeve_grey', false],
    ['jacket_closed', false],
    ['jacket_open2', false],
    ['tshirt_mustard', false],
    ['box_black', false],
    ['vneck_red', false],
  ])('is seen in the rendered %s: %s', async (name, expected) => {
    const garment = prepareGarment((await readGarment(name)).bitmap, { category: null })
    expect('foldedSleeve' in garment && garment.foldedSleeve).toBe(expected)
  })
})
