import type { Mask, Plane } from './plane.ts'

const NONE = 1e10
const FAR = NONE * NONE

/**
 * Euclidean distance in px from every pixel to the nearest set pixel (0 on set pixels, very large if none is set).
 * Exact, linear in the number of pixels: Felzenszwalb and Huttenlocher 2012, "Distance transforms of sampled functions".
 */
export function distanceTo(mask: Mask): Plane {
  const { width, height } = mask
  const within = distanceInColumn(mask)
  const line = new Float64Array(width)
  const scratch = {
    vertices: new Int32Array(width),
    borders: new Float64Array(width + 1),
    out: new Float64Array(width),
  }
  const data = new Float32Array(width * height)
  for (let y = 0, row = 0; y < height; y++, row += width) {
    for (let x = 0; x < width; x++) line[x] = within[row + x] ** 2
    transformLine(line, width, scratch)
    for (let x = 0; x < width; x++) data[row + x] = Math.sqrt(scratch.out[x])
  }
  return { width, height, data }
}

// Px to the nearest set pixel above or below; NONE without one. Row by row, to access memory sequentially.
function distanceInColumn({ width, height, data }: Mask): Float32Array {
  const distance = new Float32Array(width * height).fill(NONE)
  for (let i = 0; i < distance.length; i++) {
    if (data[i]) distance[i] = 0
    else if (i >= width) distance[i] = distance[i - width] + 1
  }
  for (let i = distance.length - width - 1; i >= 0; i--)
    if (distance[i + width] + 1 < distance[i]) distance[i] = distance[i + width] + 1
  return distance
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
