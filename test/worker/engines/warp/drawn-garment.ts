import type { SideLandmarks, SideOutline, UpperGarment } from '../../../../worker/vision/garment/garment.ts'
import type { Point } from '../../../../worker/vision/raster/plane.ts'
import { coverPolygon, fillCapsules } from '../../../../worker/vision/raster/polygon.ts'
import { resample } from '../../../../worker/vision/raster/polyline.ts'
import type { Colour } from '../../vision/body/drawn-person.ts'

const SIZE = { width: 600, height: 600 }
const AXIS = 300

export const CLOTH: Colour = [200, 60, 50]

/** Dots printed on the chest, on the photo's left and right of the axis. */
export const LEFT_DOT: Colour = [30, 90, 220]
export const RIGHT_DOT: Colour = [240, 220, 60]

// Distances from the axis and heights of one half, from the neck corner down.
const NECK = [34, 100] as const
const SHOULDER = [95, 118] as const
const CUFF_OUTER = { short: [165, 205], long: [205, 400] } as const
const CUFF_INNER = { short: [128, 228], long: [165, 412] } as const
const ARMPIT = [98, 205] as const
const HEM = [100, 440] as const

type Spot = readonly [number, number]

/**
 * A T-shirt of one colour with a blue dot on its left half and a yellow one on its right, all landmarks exact. `neck` is the distance
 * of its neck corners from the axis, and their height.
 */
export function drawGarment({
  sleeves = 'short',
  neck = NECK,
}: {
  sleeves?: 'short' | 'long' | 'none'
  neck?: Spot
} = {}): UpperGarment {
  const sides = [outline(-1, sleeves, neck), outline(1, sleeves, neck)] as const
  const neckline = Array.from({ length: 61 }, (_, i) => {
    const t = (i - 30) / 30
    return { x: AXIS + neck[0] * t, y: neck[1] + 30 * (1 - t * t) }
  })
  return {
    kind: 'top',
    kindFrom: 'words',
    image: paint(sides, neckline),
    axis: AXIS,
    sides,
    landmarks: [landmarks(-1, sleeves, neck), landmarks(1, sleeves, neck)],
    sleeved: sleeves !== 'none',
    neckline,
    openFront: null,
    foldedSleeve: false,
    torsoWidth: 198,
    symmetry: 1,
    angle: 0,
  }
}

/** A sleeveless dress: the shirt's upper part with a skirt that grows to twice its width. Its photo is left empty. */
export function drawDress(): UpperGarment {
  const vest = drawGarment({ sleeves: 'none' })
  const skirt = ({ x, y }: Point): Point => {
    const below = Math.max(0, y - 330)
    return { x: AXIS + (x - AXIS) * (1 + below / 110), y: y + 2.5 * below }
  }
  const [left, right] = vest.sides.map((side) => ({ ...side, side: side.side.map(skirt), hem: side.hem.map(skirt) }))
  const [first, last] = vest.landmarks.map((half) => ({ ...half, hem: skirt(half.hem) }))
  return { ...vest, kind: 'dress', sides: [left, right], landmarks: [first, last] }
}

const place = (side: -1 | 1, [x, y]: Spot): Point => ({ x: AXIS + side * x, y })

function outline(side: -1 | 1, sleeves: 'short' | 'long' | 'none', neck: Spot): SideOutline {
  const line = (...points: Spot[]) =>
    resample(
      points.map((p) => place(side, p)),
      60,
    )
  return {
    shoulder: line(neck, SHOULDER),
    ...(sleeves === 'none'
      ? { armhole: line(SHOULDER, [84, 165], ARMPIT) }
      : { sleeve: { outer: line(SHOULDER, CUFF_OUTER[sleeves]), inner: line(ARMPIT, CUFF_INNER[sleeves]) } }),
    side: line(ARMPIT, HEM),
    hem: line(HEM, [0, HEM[1]]),
  }
}

function landmarks(side: -1 | 1, sleeves: 'short' | 'long' | 'none', neck: Spot): SideLandmarks {
  const at = (p: Spot) => place(side, p)
  const body = { neck: at(neck), shoulder: at(SHOULDER), armpit: at(ARMPIT), hem: at(HEM) }
  if (sleeves === 'none') return body
  return { ...body, sleeveOuter: at(CUFF_OUTER[sleeves]), sleeveInner: at(CUFF_INNER[sleeves]) }
}

function paint(sides: readonly [SideOutline, SideOutline], neckline: readonly Point[]): UpperGarment['image'] {
  const half = ({ shoulder, armhole, sleeve, side, hem }: SideOutline) => [
    ...shoulder,
    ...(armhole ?? []),
    ...(sleeve ? [...sleeve.outer, ...sleeve.inner.toReversed()] : []),
    ...side,
    ...hem,
  ]
  const cover = coverPolygon(SIZE, [...half(sides[0]), ...half(sides[1]).reverse(), ...neckline.toReversed()])
  const dot = (x: number) =>
    fillCapsules(
      SIZE,
      [
        { x, y: 250 },
        { x, y: 250 },
      ],
      [14, 14],
    )
  const left = dot(AXIS - 40)
  const right = dot(AXIS + 40)
  const data = new Float32Array(4 * cover.data.length)
  for (let i = 0; i < cover.data.length; i++) {
    const colour = left.data[i] ? LEFT_DOT : right.data[i] ? RIGHT_DOT : CLOTH
    for (let c = 0; c < 3; c++) data[4 * i + c] = colour[c] * cover.data[i]
    data[4 * i + 3] = 255 * cover.data[i]
  }
  return { ...SIZE, channels: 4, data }
}
