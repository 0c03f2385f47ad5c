export interface Cluster {
  readonly mean: Float64Array
  readonly deviation: Float64Array
  /** Share of all samples, 0 to 1. */
  readonly share: number
}

const ROUNDS = 15

/**
 * k-means over Lab colours, interleaved, with k-means++ seeding (Arthur and Vassilvitskii 2007) from a fixed random sequence, so that the
 * result is deterministic. Skips empty clusters; largest cluster first.
 */
export function kMeans(samples: Float32Array, count: number): Cluster[] {
  const n = Math.floor(samples.length / 3)
  if (n === 0) return []
  let centres = seedCentres(samples, Math.min(count, n))
  const owner = new Uint8Array(n)
  for (let round = 0; round < ROUNDS; round++) {
    assign(samples, centres, owner)
    const moved = meansOf(samples, centres, owner)
    let shift = 0
    for (let k = 0; k < centres.length; k += 3) shift = Math.max(shift, distanceSquared(moved, k, centres, k))
    centres = moved
    if (shift < 0.05) break
  }
  assign(samples, centres, owner)
  return describe(samples, meansOf(samples, centres, owner), owner)
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

// The centres are interleaved, as the samples.
function seedCentres(samples: Float32Array, count: number): Float64Array {
  const random = createRandom(3)
  const n = Math.floor(samples.length / 3)
  const centres = new Float64Array(3 * count)
  const nearest = new Float64Array(n).fill(Number.POSITIVE_INFINITY)
  let chosen = Math.floor(random() * n)
  for (let k = 0; k < 3 * count; k += 3) {
    centres.set(samples.subarray(3 * chosen, 3 * chosen + 3), k)
    let total = 0
    for (let i = 0; i < n; i++) {
      nearest[i] = Math.min(nearest[i], distanceSquared(samples, 3 * i, centres, k))
      total += nearest[i]
    }
    let pick = random() * total
    chosen = nearest.findIndex((distance) => {
      pick -= distance
      return pick <= 0
    })
    if (chosen < 0) chosen = n - 1
  }
  return centres
}

function distanceSquared(a: Float32Array | Float64Array, i: number, b: Float64Array, k: number): number {
  return (a[i] - b[k]) ** 2 + (a[i + 1] - b[k + 1]) ** 2 + (a[i + 2] - b[k + 2]) ** 2
}

function assign(samples: Float32Array, centres: Float64Array, owner: Uint8Array): void {
  for (let i = 0; i < owner.length; i++) {
    const x = samples[3 * i]
    const y = samples[3 * i + 1]
    const z = samples[3 * i + 2]
    let best = Number.POSITIVE_INFINITY
    for (let k = 0; k < centres.length; k += 3) {
      const distance = (x - centres[k]) ** 2 + (y - centres[k + 1]) ** 2 + (z - centres[k + 2]) ** 2
      if (distance < best) {
        best = distance
        owner[i] = k / 3
      }
    }
  }
}

function meansOf(samples: Float32Array, centres: Float64Array, owner: Uint8Array): Float64Array {
  const sums = new Float64Array(centres.length)
  const counts = countOwned(centres, owner)
  for (let i = 0, from = 0; i < owner.length; i++) {
    const k = 3 * owner[i]
    sums[k] += samples[from++]
    sums[k + 1] += samples[from++]
    sums[k + 2] += samples[from++]
  }
  return sums.map((sum, i) => (counts[Math.floor(i / 3)] > 0 ? sum / counts[Math.floor(i / 3)] : centres[i]))
}

function countOwned(centres: Float64Array, owner: Uint8Array): Float64Array {
  const counts = new Float64Array(centres.length / 3)
  for (const k of owner) counts[k]++
  return counts
}

function describe(samples: Float32Array, means: Float64Array, owner: Uint8Array): Cluster[] {
  const counts = countOwned(means, owner)
  const squares = new Float64Array(means.length)
  for (let i = 0; i < 3 * owner.length; i++) {
    const at = 3 * owner[Math.floor(i / 3)] + (i % 3)
    squares[at] += (samples[i] - means[at]) ** 2
  }
  return Array.from(counts, (own, k) => ({
    mean: means.slice(3 * k, 3 * k + 3),
    deviation: squares.slice(3 * k, 3 * k + 3).map((sum) => Math.sqrt(sum / Math.max(1, own))),
    share: own / owner.length,
  }))
    .filter(({ share }) => share > 0)
    .sort((a, b) => b.share - a.share)
}
