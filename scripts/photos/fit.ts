import { readFile } from 'node:fs/promises'
import { previewQuality, type Strain } from '../../worker/vision/quality/preview-quality.ts'

// Prints weights for `previewQuality`, fitted on all results that were rated by eye, and how well the same fit ranks results of people
// whose other results it does not know.
// node scripts/photos/fit.ts

/** A result of the engine `warp`, rated by eye with scripts/photos/SCALE.md, and what the parser saw in it. */
export interface Rated extends Strain {
  /** The person's photo. */
  readonly photo: string
  readonly rating: number
}

export async function readRatings(): Promise<Rated[]> {
  const [, ...lines] = (await readFile(new URL('ratings.csv', import.meta.url), 'utf8')).trim().split('\n')
  return lines.map((line) => {
    const [photo, , ...texts] = line.split(',')
    const [rating, skin, background, outer] = texts.map(Number)
    return { photo, rating, skin, background, outer }
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

const FOLDS = 8

/** The quality of every result by weights that were fitted without the results of the same person. */
export function qualitiesUnseen(rated: readonly Rated[]): number[] {
  const people = [...new Set(rated.map(({ photo }) => photo))]
  const foldOf = ({ photo }: Rated) => people.indexOf(photo) % FOLDS
  const weights = Array.from({ length: FOLDS }, (_, fold) =>
    fitWeights(rated.filter((entry) => foldOf(entry) !== fold)),
  )
  return rated.map((entry) => chanceOf(entry, weights[foldOf(entry)]))
}

const STEPS = 3_000
const RATE = 2
// Keeps weights small that the ratings hardly need.
const SHRINK = 6e-4

/** Logistic regression of "rated 3 or better" by gradient descent: the base, and the weights of skin, background and outer. */
export function fitWeights(rated: readonly Rated[]): number[] {
  let weights = [0, 0, 0, 0]
  for (let step = 0; step < STEPS; step++) {
    const slopes = weights.map((weight, k) => (k === 0 ? 0 : SHRINK * weight))
    for (const entry of rated) {
      const error = (chanceOf(entry, weights) - (entry.rating >= 3 ? 1 : 0)) / rated.length
      for (const [k, value] of inputsOf(entry).entries()) slopes[k] += error * value
    }
    weights = weights.map((weight, k) => weight - RATE * slopes[k])
  }
  return weights
}

function inputsOf({ skin, background, outer }: Strain): number[] {
  return [1, -Math.sqrt(skin), -Math.sqrt(background), -Math.sqrt(outer)]
}

function chanceOf(strain: Strain, weights: readonly number[]): number {
  return 1 / (1 + Math.exp(-inputsOf(strain).reduce((sum, value, k) => sum + weights[k] * value, 0)))
}

if (import.meta.main) {
  const rated = await readRatings()
  const ratings = rated.map(({ rating }) => rating)
  const [base, skin, background, outer] = fitWeights(rated).map((weight) => weight.toFixed(2))
  console.log(`base ${base}, skin ${skin}, background ${background}, outer ${outer}`)
  for (const [whose, qualities] of [
    ['people of the fit', rated.map(previewQuality)],
    ['other people', qualitiesUnseen(rated)],
  ] as const) {
    console.log(`${whose}: ${rated.length} results, rank correlation ${rankCorrelation(qualities, ratings).toFixed(2)}`)
    for (const limit of [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]) {
      const below = ratings.filter((_, k) => qualities[k] < limit)
      const counts = [1, 2, 3, 4, 5].map((rating) => below.filter((other) => other === rating).length)
      console.log(`  quality below ${limit}: rated 1 to 5: ${counts.join(', ')}`)
    }
  }
}
