import { type Cluster, kMeans } from './clusters.ts'
import { countSet } from './mask.ts'
import type { Colours, Mask, Plane } from './plane.ts'
import { median } from './statistics.ts'

/** Typical colours of one kind of surface as Gaussians in CIE Lab. */
export type ColourModel = readonly Cluster[]

// Cost of any colour if the surface is unknown: higher than a fair match, lower than a bad one.
const UNKNOWN_COST = 60

// Light varies more than hue, and a perfectly even patch must accept its own next pixel.
const MIN_DEVIATION = [6, 3, 3]

const MAX_SAMPLES = 3000

/** A set of Lab colours, interleaved. */
export type Samples = Float32Array

/** Lab colours of pixels that are set in `region` and certainly belong to the person; at most 3,000, evenly spaced. */
export function samplesOf({ data }: Colours, region: Mask, person?: Plane): Samples {
  const indices = new Int32Array(countSet(region))
  let count = 0
  for (let i = 0; i < region.data.length; i++)
    if (region.data[i] && (person === undefined || person.data[i] > 0.8)) indices[count++] = i
  const step = Math.max(1, count / MAX_SAMPLES)
  const samples = new Float32Array(3 * Math.floor(count / step))
  for (let to = 0; to < samples.length; to += 3) {
    const from = 3 * indices[Math.floor((to / 3) * step)]
    samples[to] = data[from]
    samples[to + 1] = data[from + 1]
    samples[to + 2] = data[from + 2]
  }
  return samples
}

export function countOf(samples: Samples): number {
  return samples.length / 3
}

/** Median of each Lab channel. */
export function medianColour(samples: Samples): [number, number, number] {
  const of = (channel: number) => median(samples.filter((_, i) => i % 3 === channel))
  return [of(0), of(1), of(2)]
}

/** The samples that `keep` accepts. */
export function filterSamples(samples: Samples, keep: (l: number, a: number, b: number) => boolean): Samples {
  const kept: number[] = []
  for (let i = 0; i < samples.length; i += 3) {
    const l = samples[i]
    const a = samples[i + 1]
    const b = samples[i + 2]
    if (keep(l, a, b)) kept.push(l, a, b)
  }
  return Float32Array.from(kept)
}

/** `count` typical colours, without those of fewer than 6 % of the samples; none for fewer than 60 samples. */
export function learnColours(samples: Samples, count: number): ColourModel {
  if (countOf(samples) < 60) return []
  return kMeans(samples, count)
    .filter(({ share }) => share > 0.06)
    .map((cluster) => ({ ...cluster, deviation: cluster.deviation.map((d, i) => Math.max(d, MIN_DEVIATION[i])) }))
}

/** Writes the cost of a Lab colour under each of several models to `out`. */
export type Costs = (colour: { l: number; a: number; b: number }, out: Float64Array) => void

/**
 * Cost of a colour: the minimum over a model's clusters of Σ (Δ/σ)² + 2 Σ ln σ − 0.6 ln share, which is twice the
 * negative logarithm of a Gaussian with softened weights.
 */
export function createCosts(models: readonly ColourModel[]): Costs {
  const terms = Float64Array.from(models.flatMap((model) => model.flatMap(termsOf)))
  const ends = models.map((_, m) => 7 * models.slice(0, m + 1).reduce((sum, model) => sum + model.length, 0))
  return ({ l, a, b }, out) => {
    for (let m = 0, k = 0; m < ends.length; m++) {
      let minCost = k === ends[m] ? UNKNOWN_COST : Number.POSITIVE_INFINITY
      for (; k < ends[m]; k += 7) {
        const dl = l - terms[k]
        const da = a - terms[k + 1]
        const db = b - terms[k + 2]
        const cost = dl * dl * terms[k + 3] + da * da * terms[k + 4] + db * db * terms[k + 5] + terms[k + 6]
        if (cost < minCost) minCost = cost
      }
      out[m] = minCost
    }
  }
}

function termsOf({ mean, deviation, share }: Cluster): number[] {
  const spread = 2 * deviation.reduce((sum, d) => sum + Math.log(d), 0) - 0.6 * Math.log(share)
  return [...mean, ...deviation.map((d) => 1 / (d * d)), spread]
}
