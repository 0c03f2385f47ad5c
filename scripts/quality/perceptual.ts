import { differenceCiede2000 } from 'culori'
import { gaussianBlur } from '../../worker/vision/raster/filter.ts'
import { type Bitmap, createPlane, type Mask, type Plane } from '../../worker/vision/raster/plane.ts'

/** CIEDE2000 with all weights 1: 1 is about the smallest difference that people see between large patches. */
const difference = differenceCiede2000()

/** px per degree of the visual field: most people cannot see finer detail. */
const PX_PER_DEGREE = 60

// Weights and spreads in degrees of the eye's blur for light, red-green and blue-yellow (Zhang and Wandell 1997, table 1).
const BLURS = [
  [
    [0.921, 0.0283],
    [0.105, 0.133],
    [-0.108, 4.336],
  ],
  [
    [0.531, 0.0392],
    [0.33, 0.494],
  ],
  [
    [0.488, 0.0536],
    [0.371, 0.386],
  ],
] as const

// From CIE XYZ to the opponent colours of Poirson and Wandell 1993, and back.
const TO_OPPONENT = [
  [0.279, 0.72, -0.107],
  [-0.449, 0.29, -0.077],
  [0.086, -0.59, 0.501],
] as const
const FROM_OPPONENT = inverse(TO_OPPONENT)

const TO_XYZ = [
  [0.4124564, 0.3575761, 0.1804375],
  [0.2126729, 0.7151522, 0.072175],
  [0.0193339, 0.119192, 0.9503041],
] as const
const WHITE = [0.95047, 1, 1.08883] as const

const LINEAR = Float64Array.from({ length: 256 }, (_, i) =>
  i / 255 <= 0.04045 ? i / 255 / 12.92 : ((i / 255 + 0.055) / 1.055) ** 2.4,
)

/**
 * Perceptual distance of two bitmaps of the same size within the region, in units of CIEDE2000, at 60 px per degree: S-CIELAB of
 * Zhang and Wandell 1997, "A spatial extension of CIELAB for digital color image reproduction", which blurs both as the eye does
 * before it compares colours.
 */
export function perceptualDistance(a: Bitmap, b: Bitmap, region: Mask): number {
  const [p, q] = [seenColours(a), seenColours(b)]
  let sum = 0
  let n = 0
  for (let i = 0; i < region.data.length; i++) {
    if (!region.data[i]) continue
    sum += difference(labAt(p, i), labAt(q, i))
    n++
  }
  return sum / Math.max(1, n)
}

/** The opponent colours of the bitmap, blurred as by the eye. */
function seenColours(bitmap: Bitmap): Plane[] {
  return BLURS.map((blurs, channel) => blurAs(opponentOf(bitmap, channel), blurs))
}

function opponentOf({ width, height, channels, data }: Bitmap, channel: number): Plane {
  const plane = createPlane({ width, height })
  const row = [0, 1, 2].map((c) => TO_OPPONENT[channel].reduce((sum, weight, k) => sum + weight * TO_XYZ[k][c], 0))
  for (let i = 0, k = 0; i < plane.data.length; i++, k += channels)
    plane.data[i] = row[0] * LINEAR[data[k]] + row[1] * LINEAR[data[k + 1]] + row[2] * LINEAR[data[k + 2]]
  return plane
}

// The paper's bells are exp(−(r / spread)²): their standard deviation is spread / √2.
function blurAs(plane: Plane, blurs: readonly (readonly [weight: number, spread: number])[]): Plane {
  const all = blurs.reduce((sum, [weight]) => sum + weight, 0)
  const out = createPlane(plane)
  for (const [weight, spread] of blurs) {
    const { data } = gaussianBlur(plane, (spread * PX_PER_DEGREE) / Math.SQRT2)
    for (let i = 0; i < data.length; i++) out.data[i] += (weight / all) * data[i]
  }
  return out
}

/** In CIE Lab under D65. */
function labAt(opponent: readonly Plane[], i: number) {
  const [x, y, z] = FROM_OPPONENT.map((row, k) => {
    const t = row.reduce((sum, weight, c) => sum + weight * opponent[c].data[i], 0) / WHITE[k]
    return t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116
  })
  return { mode: 'lab65', l: 116 * y - 16, a: 500 * (x - y), b: 200 * (y - z) } as const
}

// By cofactors.
function inverse(m: readonly (readonly number[])[]): number[][] {
  const minor = (r: number, c: number) => {
    const [r1, r2] = [(r + 1) % 3, (r + 2) % 3]
    const [c1, c2] = [(c + 1) % 3, (c + 2) % 3]
    return m[r1][c1] * m[r2][c2] - m[r1][c2] * m[r2][c1]
  }
  const determinant = m[0].reduce((sum, value, c) => sum + value * minor(0, c), 0)
  return m.map((row, r) => row.map((_, c) => minor(c, r) / determinant))
}
