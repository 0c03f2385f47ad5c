export interface Cluster {
  readonly mean: Float64Array
  readonly deviation: Float64Array
  /** Share of all samples, 0 to 1. */
  readonly share: number
}

/**
 * k-means over `samples` (count × dimensions, interleaved) with k-means++ seeding (Arthur and Vassilvitskii 2007) from a fixed
 * random sequence, so that the result is deterministic. Skips empty clusters; largest cluster first.
 */
export function kMeans(
  samples: Float32Array,
  { dimensions, count, rounds = 15 }: { dimensions: number; count: number; rounds?: number },
): Cluster[] {
  const n = Math.floor(samples.length / dimensions)
  if (n === 0) return []
  const random = createRandom(3)
  let centres = seedCentres(samples, { n, dimensions, count: Math.min(count, n), random })
  const owner = new Int32Array(n)
  for (let round = 0; round < rounds; round++) {
    assign(samples, { n, dimensions, centres, owner })
    const moved = meansOf(samples, { n, dimensions, centres, owner })
    const shift = moved.reduce(
      (maxShift, mean, k) => Math.max(maxShift, distanceSquared(mean, 0, centres[k], dimensions)),
      0,
    )
    centres = moved
    if (shift < 0.05) break
  }
  assign(samples, { n, dimensions, centres, owner })
  return describe(samples, { n, dimensions, centres, owner })
}

/** Deterministic random numbers in [0, 1) (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

interface Assignment {
  n: number
  dimensions: number
  centres: Float64Array[]
  owner: Int32Array
}

function seedCentres(
  samples: Float32Array,
  { n, dimensions, count, random }: { n: number; dimensions: number; count: number; random: () => number },
): Float64Array[] {
  const at = (i: number) => Float64Array.from(samples.subarray(i * dimensions, (i + 1) * dimensions))
  const centres = [at(Math.floor(random() * n))]
  const nearest = new Float64Array(n).fill(Number.POSITIVE_INFINITY)
  while (centres.length < count) {
    let total = 0
    for (let i = 0; i < n; i++) {
      nearest[i] = Math.min(
        nearest[i],
        distanceSquared(centres[centres.length - 1], i * dimensions, samples, dimensions),
      )
      total += nearest[i]
    }
    let pick = random() * total
    let chosen = n - 1
    for (let i = 0; i < n; i++) {
      pick -= nearest[i]
      if (pick <= 0) {
        chosen = i
        break
      }
    }
    centres.push(at(chosen))
  }
  return centres
}

// `offset` is into `b`.
function distanceSquared(a: Float64Array, offset: number, b: ArrayLike<number>, dimensions: number): number {
  let sum = 0
  for (let d = 0; d < dimensions; d++) sum += (a[d] - b[offset + d]) ** 2
  return sum
}

function assign(samples: Float32Array, { n, dimensions, centres, owner }: Assignment): void {
  for (let i = 0; i < n; i++) {
    let best = Number.POSITIVE_INFINITY
    for (let k = 0; k < centres.length; k++) {
      const distance = distanceSquared(centres[k], i * dimensions, samples, dimensions)
      if (distance < best) {
        best = distance
        owner[i] = k
      }
    }
  }
}

function meansOf(samples: Float32Array, { n, dimensions, centres, owner }: Assignment): Float64Array[] {
  const sums = centres.map(() => new Float64Array(dimensions))
  const counts = centres.map(() => 0)
  for (let i = 0; i < n; i++) {
    counts[owner[i]]++
    for (let d = 0; d < dimensions; d++) sums[owner[i]][d] += samples[i * dimensions + d]
  }
  return sums.map((sum, k) => (counts[k] > 0 ? sum.map((v) => v / counts[k]) : centres[k]))
}

function describe(samples: Float32Array, assignment: Assignment): Cluster[] {
  const { n, dimensions, owner } = assignment
  const means = meansOf(samples, assignment)
  const squares = means.map(() => new Float64Array(dimensions))
  const counts = means.map(() => 0)
  for (let i = 0; i < n; i++) {
    counts[owner[i]]++
    for (let d = 0; d < dimensions; d++) squares[owner[i]][d] += (samples[i * dimensions + d] - means[owner[i]][d]) ** 2
  }
  return means
    .map((mean, k) => ({
      mean,
      deviation: squares[k].map((v) => Math.sqrt(v / Math.max(1, counts[k]))),
      share: counts[k] / n,
    }))
    .filter((cluster) => cluster.share > 0)
    .sort((a, b) => b.share - a.share)
}
