/** CIE 1931 x and y of white, red, green and blue. */
export type Chromaticities = readonly [Point, Point, Point, Point]
type Point = readonly [x: number, y: number]
/** 9 numbers in row-major order. */
type Matrix = readonly number[]

const D65: Point = [0.3127, 0.329]
/** XYZ of the white point of every ICC profile (ICC.1:2022, 7.2.16). */
export const D50: readonly number[] = [0.9642, 1, 0.8249]
const BRADFORD: Matrix = [0.8951, 0.2664, -0.1614, -0.7502, 1.7135, 0.0367, 0.0389, -0.0685, 1.0296]

/** By code point of the primaries (ITU-T H.273, table 2). */
export const CHROMATICITIES: Readonly<Record<number, Chromaticities>> = {
  1: [D65, [0.64, 0.33], [0.3, 0.6], [0.15, 0.06]],
  4: [
    [0.31, 0.316],
    [0.67, 0.33],
    [0.21, 0.71],
    [0.14, 0.08],
  ],
  5: [D65, [0.64, 0.33], [0.29, 0.6], [0.15, 0.06]],
  6: [D65, [0.63, 0.34], [0.31, 0.595], [0.155, 0.07]],
  7: [D65, [0.63, 0.34], [0.31, 0.595], [0.155, 0.07]],
  9: [D65, [0.708, 0.292], [0.17, 0.797], [0.131, 0.046]],
  11: [
    [0.314, 0.351],
    [0.68, 0.32],
    [0.265, 0.69],
    [0.15, 0.06],
  ],
  12: [D65, [0.68, 0.32], [0.265, 0.69], [0.15, 0.06]],
}

/**
 * Matrix from linear RGB to XYZ under D50 (Bradford adaptation), where RGB of 1 is white. Null if the chromaticities span no colours.
 */
export function toXyzUnderD50([white, ...primaries]: Chromaticities): Matrix | null {
  if ([white, ...primaries].some(([, y]) => y <= 0)) return null
  const [red, green, blue] = primaries.map(toXyz)
  const columns = [0, 1, 2].flatMap((row) => [red[row], green[row], blue[row]])
  const whiteXyz = toXyz(white)
  const luminances = apply(invert(columns), whiteXyz)
  const cones = apply(BRADFORD, whiteXyz)
  const gains = apply(BRADFORD, D50).map((cone, i) => cone / cones[i])
  const adapt = multiply(
    invert(BRADFORD),
    BRADFORD.map((value, i) => value * gains[Math.floor(i / 3)]),
  )
  const matrix = multiply(
    adapt,
    columns.map((value, i) => value * luminances[i % 3]),
  )
  return matrix.every((value) => Math.abs(value) < 10) ? matrix : null
}

/** With a luminance of 1. */
function toXyz([x, y]: Point): readonly number[] {
  return [x / y, 1, (1 - x - y) / y]
}

function apply(matrix: Matrix, [a, b, c]: readonly number[]): number[] {
  return [0, 3, 6].map((row) => matrix[row] * a + matrix[row + 1] * b + matrix[row + 2] * c)
}

function multiply(left: Matrix, right: Matrix): Matrix {
  const columns = [0, 1, 2].map((column) => apply(left, [right[column], right[column + 3], right[column + 6]]))
  return [0, 1, 2].flatMap((row) => columns.map((column) => column[row]))
}

function invert([a, b, c, d, e, f, g, h, i]: Matrix): Matrix {
  const determinant = a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)
  const adjugate = [
    ...[e * i - f * h, c * h - b * i, b * f - c * e],
    ...[f * g - d * i, a * i - c * g, c * d - a * f],
    ...[d * h - e * g, b * g - a * h, a * e - b * d],
  ]
  return adjugate.map((value) => value / determinant)
}
