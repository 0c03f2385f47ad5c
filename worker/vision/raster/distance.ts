import type { Mask, Plane } from './plane.ts'

const FAR = 1e20

/**
 * Euclidean distance in px from every pixel to the nearest set pixel (0 on set pixels, very large if none is set).
 * Exact, linear in the number of pixels: Felzenszwalb and Huttenlocher 2012, "Distance transforms of sampled functions".
 */
export function distanceTo(mask: Mask): Plane {
  const { width, height } = mask
  const squared = new Float64Array(width * height)
  for (let i = 0; i < squared.length; i++) squared[i] = mask.data[i] ? 0 : FAR
  const longest = Math.max(width, height)
  const line = new Float64Array(longest)
  const scratch = {
    vertices: new Int32Array(longest),
    borders: new Float64Array(longest + 1),
    out: new Float64Array(longest),
  }
  for (let x = 0; x < width; x++) {
    for (let y = 0; y < height; y++) line[y] = squared[y * width + x]
    transformLine(line, height, scratch)
    for (let y = 0; y < height; y++) squared[y * width + x] = scratch.out[y]
  }
  const data = new Float32Array(width * height)
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) line[x] = squared[y * width + x]
    transformLine(line, width, scratch)
    for (let x = 0; x < width; x++) data[y * width + x] = Math.sqrt(scratch.out[x])
  }
  return { width, height, data }
}

function transformLine(
  line: Float64Array,
  length: number,
  { vertices, borders, out }: { vertices: Int32Array; borders: Float64Array; out: Float64Array },
): void {
  let k = 0
  vertices[0] = 0
  borders[0] = -FAR
  borders[1] = FAR
  for (let q = 1; q < length; q++) {
    let cross = crossing(line, q, vertices[k])
    while (cross <= borders[k]) {
      k--
      cross = crossing(line, q, vertices[k])
    }
    k++
    vertices[k] = q
    borders[k] = cross
    borders[k + 1] = FAR
  }
  k = 0
  for (let q = 0; q < length; q++) {
    while (borders[k + 1] < q) k++
    const d = q - vertices[k]
    out[q] = d * d + line[vertices[k]]
  }
}

function crossing(line: Float64Array, q: number, v: number): number {
  return (line[q] + q * q - (line[v] + v * v)) / (2 * q - 2 * v)
}
