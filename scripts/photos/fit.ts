import { readFile } from 'node:fs/promises'
import { previewQuality } from '../../worker/vision/quality/score.ts'

// Prints weights for `previewQuality`, fitted on one half of the results that were rated by eye, and how well it ranks the other half.
// node scripts/photos/fit.ts

/** A result of the engine `warp`, rated by eye with scripts/photos/SCALE.md; what the photo asked of it, and the damage that was seen. */
export interface Rated {
  /** Other people are in the half to measure on, and people of studio photos with other products. */
  readonly half: string
  readonly rating: number
  readonly bulk: number
  readonly skin: number
  readonly damage: number
}

export async function readRatings(): Promise<Rated[]> {
  const [, ...lines] = (await readFile(new URL('ratings.csv', import.meta.url), 'utf8')).trim().split('\n')
  return lines.map((line) => {
    const [, , half, ...texts] = line.split(',')
    const [rating, bulk, skin, damage] = texts.map(Number)
    return { half, rating, bulk, skin, damage }
  })
}

/** Spearman's rank correlation; equal values share their mean rank. */
export function rankCorrelation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [ranksOf(a), ranksOf(b)]
  const dot = (p: readonly number[], q: readonly number[]) => p.reduce((sum, value, k) => sum + value * q[k], 0)
  return dot(x, y) / Math.sqrt(dot(x, x) * dot(y, y))
}

/** Ranks around 0. */
function ranksOf(values: readonly number[]): number[] {
  const sorted = values.toSorted((p, q) => p - q)
  return values.map((value) => sorted.indexOf(value) + sorted.lastIndexOf(value) + 1 - values.length)
}

const STEPS = 100_000
const RATE = 0.1
// Keeps weights small that the ratings hardly need.
const SHRINK = 0.002

/** Logistic regression of "rated 3 or better" by gradient descent: the base, and the weights of bulk, skin and damage. */
function fitWeights(rated: readonly Rated[]): number[] {
  const rows = rated.map(({ rating, bulk, skin, damage }) => ({
    inputs: [1, -Math.log1p(4 * bulk), -Math.log1p(4 * skin), -damage],
    isGood: rating >= 3 ? 1 : 0,
  }))
  let weights = [0, 0, 0, 0]
  for (let step = 0; step < STEPS; step++) {
    const slopes = weights.map((weight, k) => (k === 0 ? 0 : SHRINK * weight))
    for (const { inputs, isGood } of rows) {
      const chance = 1 / (1 + Math.exp(-inputs.reduce((sum, value, k) => sum + weights[k] * value, 0)))
      for (const [k, value] of inputs.entries()) slopes[k] += ((chance - isGood) * value) / rows.length
    }
    weights = weights.map((weight, k) => weight - RATE * slopes[k])
  }
  return weights
}

if (import.meta.main) {
  const all = await readRatings()
  const [base, bulk, skin, damage] = fitWeights(all.filter(({ half }) => half === 'tune')).map((weight) =>
    weight.toFixed(2),
  )
  console.log(`base ${base}, bulk ${bulk}, skin ${skin}, damage ${damage}`)
  for (const half of ['tune', 'measure']) {
    const rated = all.filter((entry) => entry.half === half)
    const qualities = rated.map((entry) => previewQuality(entry.damage, entry))
    const rho = rankCorrelation(
      qualities,
      rated.map(({ rating }) => rating),
    )
    console.log(`${half}: ${rated.length} results, rank correlation ${rho.toFixed(2)}`)
    for (const limit of [0.05, 0.1, 0.2, 0.4, 0.6]) {
      const below = rated.filter((_, k) => qualities[k] < limit)
      const counts = [1, 2, 3, 4, 5].map((rating) => below.filter((entry) => entry.rating === rating).length)
      console.log(`  quality below ${limit}: rated 1 to 5: ${counts.join(', ')}`)
    }
  }
}
