import { type Colours, createPlane, type Plane } from '../raster/plane.ts'
import { reduceByFactor, reduceColoursByFactor } from '../raster/reduce.ts'

// Deviations of the distance of two cells, in cells, and of their colours, 0 to 1, in the weight of what one says to the other.
const REACH = 24
const LIKENESS = 0.04
// Exponent above which two cells have nothing to do with each other.
const LIMIT = 5
// Cells listen to means of FACTOR × FACTOR cells.
const FACTOR = 4
const ROUNDS = 2
// Cells with a lower share of all these labels are left alone, and get no say.
const ABSENT = 0.1
// No label becomes less likely than by this in a round.
const LEAST = 0.01

/**
 * Shares of labels, a plane each, that agree among cells of like colours that are not far from each other, so that a garment gets one
 * label everywhere. The sum of the labels in each cell stays. `colours` are sRGB in 0 to 1, one a cell.
 */
export function agree(planes: readonly Plane[], colours: Colours): Plane[] {
  const total = createPlane(planes[0])
  for (const { data } of planes) for (let i = 0; i < data.length; i++) total.data[i] += data[i]
  const cells = placeCells(total, colours, 1)
  const others = placeCells(reduceByFactor(total, FACTOR), reduceColoursByFactor(colours, FACTOR), FACTOR)
  const links = linkCells(cells, others)
  let agreed = [...planes]
  for (let round = 0; round < ROUNDS; round++) {
    const heard = listen(links, valuesOf(agreed, others))
    agreed = planes.map((plane) => ({ ...plane, data: plane.data.slice() }))
    for (const [k, i] of cells.indices.entries()) {
      const from = k * planes.length
      let sum = 0
      for (const [label, { data }] of agreed.entries()) sum += data[i] *= Math.max(LEAST, heard[from + label])
      for (const { data } of agreed) data[i] *= total.data[i] / sum
    }
  }
  return agreed
}

/** Cells that show the labels. */
interface Cells {
  /** In the grid. */
  readonly indices: readonly number[]
  /** Column and row, red, green and blue, in the deviations of weights times √2: the square of a distance is an exponent. */
  readonly features: Float32Array
}

const FEATURES = 5

function placeCells(total: Plane, { data }: Colours, factor: number): Cells {
  const indices = [...total.data.keys()].filter((i) => total.data[i] > ABSENT)
  const features = new Float32Array(FEATURES * indices.length)
  for (const [k, i] of indices.entries()) {
    const place = [i % total.width, Math.floor(i / total.width)]
    for (let d = 0; d < 2; d++) features[FEATURES * k + d] = (factor * (place[d] + 0.5)) / (REACH * Math.SQRT2)
    for (let c = 0; c < 3; c++) features[FEATURES * k + 2 + c] = data[3 * i + c] / (LIKENESS * Math.SQRT2)
  }
  return { indices, features }
}

/** Which others each cell listens to: of cell k those from `ends[k - 1]` to `ends[k]`. */
interface Links {
  readonly ends: readonly number[]
  readonly to: readonly number[]
  readonly weights: readonly number[]
}

function linkCells({ features: own }: Cells, { features: other }: Cells): Links {
  const [ends, to, weights]: number[][] = [[], [], []]
  for (let a = 0; a < own.length; a += FEATURES) {
    for (let b = 0; b < other.length; b += FEATURES) {
      let exponent = 0
      for (let d = 0; d < FEATURES && exponent <= LIMIT; d++) exponent += (own[a + d] - other[b + d]) ** 2
      if (exponent > LIMIT) continue
      to.push(b / FEATURES)
      weights.push(Math.exp(-exponent))
    }
    ends.push(to.length)
  }
  return { ends, to, weights }
}

/** Values of the labels in the means of cells, label by label of each. */
function valuesOf(planes: readonly Plane[], { indices }: Cells): Float32Array[] {
  const means = planes.map((plane) => reduceByFactor(plane, FACTOR).data)
  return indices.map((i) => Float32Array.from(means, (mean) => mean[i]))
}

/** The share of each label in what each cell hears: the others' values by weight. */
function listen({ ends, to, weights }: Links, values: readonly Float32Array[]): Float32Array {
  const count = values[0]?.length ?? 0
  const heard = new Float32Array(ends.length * count)
  for (let k = 0, link = 0; k < ends.length; k++) {
    const start = k * count
    let sum = 1e-9
    for (; link < ends[k]; link++) {
      const said = values[to[link]]
      for (let label = 0; label < count; label++) heard[start + label] += weights[link] * said[label]
    }
    for (let label = 0; label < count; label++) sum += heard[start + label]
    for (let label = 0; label < count; label++) heard[start + label] /= sum
  }
  return heard
}
