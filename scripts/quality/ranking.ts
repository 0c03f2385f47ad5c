import type { Models } from '../../worker/inference/models.ts'
import { measureKeypoints } from '../../worker/vision/body/keypoints.ts'
import { findPerson } from '../../worker/vision/person/find-person.ts'
import { personAtSize } from '../../worker/vision/person/within.ts'
import type { Fault } from '../../worker/vision/quality/faults.ts'
import { describeProduct } from '../../worker/vision/quality/product.ts'
import { judgeResult } from '../../worker/vision/quality/score.ts'
import { SIGNS, type Signs } from '../../worker/vision/quality/signs.ts'
import { maskWhere } from '../../worker/vision/raster/mask.ts'
import { dilate } from '../../worker/vision/raster/morphology.ts'
import { coloursToBitmap, type Mask, maskToPlane, type Size } from '../../worker/vision/raster/plane.ts'
import { resizeAreaColours } from '../../worker/vision/raster/sample.ts'
import { DEFECTS, damage, type Sound } from './defects.ts'
import { type PairName, readPair, readPairNames } from './pair.ts'

/** Input of the score for a rendered truth, or for a truth with a defect. */
export interface Seen {
  readonly pair: string
  /** Weights are fitted on one half of the figures and measured on the other. */
  readonly half: 'tune' | 'measure'
  readonly defect: string | null
  readonly signs: Signs
  /** Why the result must not be shown. */
  readonly fault: Fault | null
}

interface SeeOptions {
  readonly models: Models
  readonly isWanted?: (name: PairName) => boolean
  readonly note?: (pair: string) => void
}

/** The signs of every rendered truth of a folder, and of each truth with every visible defect. */
export async function seeDefects(
  folder: string,
  { models, isWanted = () => true, note = () => {} }: SeeOptions,
): Promise<Seen[]> {
  const names = (await readPairNames(folder)).filter(({ truth }) => truth !== undefined)
  const figures = [...new Set(names.map(figureOf))].sort()
  const seen: Seen[] = []
  for (const name of names.filter(isWanted)) {
    const sound = await soundResult(folder, name, models)
    const product = sound && describeProduct(sound.garment)
    const judged = product && judgeResult(sound, product)
    if (!judged) continue
    const half = figures.indexOf(figureOf(name)) % 2 === 0 ? 'tune' : 'measure'
    const pair = `${name.person} + ${name.garment}`
    seen.push({ pair, half, defect: null, ...judged })
    for (const defect of Object.keys(DEFECTS)) {
      for (const side of defect === 'stub arm' || defect === 'leftover sleeve' ? ([0, 1] as const) : ([0] as const)) {
        const damaged = damage(sound, defect, side)
        const found = damaged && judgeResult(damaged, product)
        if (found) seen.push({ pair, half, defect, ...found })
      }
    }
    note(pair)
  }
  return seen
}

function figureOf({ person }: PairName): string {
  return person.split('-')[0]
}

// The resolution of the score, so that defects are fast to create.
const UNIT = 60

/** The rendered truth as a result; null if no person is found. */
export async function soundResult(folder: string, name: PairName, models: Models): Promise<Sound | null> {
  const { figure, truth, garment } = await readPair(folder, name)
  const person = await findPerson(figure.bitmap, models)
  if (!person || !truth) return null
  const scale = Math.min(1, UNIT / measureKeypoints(person).unit)
  const size = { width: Math.round(figure.bitmap.width * scale), height: Math.round(figure.bitmap.height * scale) }
  const worn = maskAtSize(truth.parts[name.part], size)
  const old = maskAtSize(figure.parts[name.part], size)
  const changed = dilate(
    maskWhere(worn, (i) => worn.data[i] + old.data[i] > 0),
    2,
  )
  return {
    ...{
      photo: coloursToBitmap(resizeAreaColours(figure.bitmap, size)),
      person: personAtSize(person, size),
      garment: garment.bitmap,
    },
    ...{
      image: coloursToBitmap(resizeAreaColours(truth.bitmap, size)),
      change: maskToPlane(changed),
      worn,
      part: name.part,
    },
  }
}

function maskAtSize(mask: Mask, size: Size): Mask {
  return maskWhere(size, (i) => {
    const x = Math.floor((((i % size.width) + 0.5) * mask.width) / size.width)
    const y = Math.floor(((Math.floor(i / size.width) + 0.5) * mask.height) / size.height)
    return mask.data[y * mask.width + x] === 1
  })
}

/** Number of damaged results of one half that a score ranks below their truth, by defect. */
function countRanked(
  seen: readonly Seen[],
  half: Seen['half'],
  scoreOf: (signs: Signs) => number,
): Map<string, { below: number; all: number }> {
  const truths = new Map(seen.flatMap(({ pair, defect, signs }) => (defect === null ? [[pair, scoreOf(signs)]] : [])))
  const counts = new Map<string, { below: number; all: number }>()
  for (const { pair, defect, signs } of seen.filter((entry) => entry.half === half)) {
    if (defect === null) continue
    const { below, all } = counts.get(defect) ?? { below: 0, all: 0 }
    const isBelow = scoreOf(signs) < (truths.get(pair) ?? 0)
    counts.set(defect, { below: below + (isBelow ? 1 : 0), all: all + 1 })
  }
  return counts
}

export function presentRanking(seen: readonly Seen[], scoreOf: (signs: Signs) => number): string {
  const halves = (['tune', 'measure'] as const).map((half) => countRanked(seen, half, scoreOf))
  const lines = Object.keys(DEFECTS).map((defect) => {
    const cells = halves.map((counts) => counts.get(defect) ?? { below: 0, all: 0 })
    return `  ${defect.padEnd(18)}${cells.map(({ below, all }) => `${below} of ${all}`.padStart(12)).join('')}`
  })
  const totals = halves.map((counts) => {
    const [below, all] = [...counts.values()].reduce(([b, a], count) => [b + count.below, a + count.all], [0, 0])
    return `${((100 * below) / Math.max(1, all)).toFixed(1)} %`.padStart(12)
  })
  return [
    'damaged results below their truth    tune     measure',
    ...lines,
    `  ${'all'.padEnd(18)}${totals.join('')}`,
  ].join('\n')
}

const ROUNDS = 4000
const SHARPNESS = 8

/**
 * Weights that rank damaged results of the tuning half below their truths: logistic regression of the differences (RankNet, Burges et
 * al. 2005), at least 0.02, regularised towards 0.5.
 */
export function fitWeights(seen: readonly Seen[]): Signs {
  const truths = new Map(seen.flatMap(({ pair, defect, signs }) => (defect === null ? [[pair, signs]] : [])))
  const rows = seen.flatMap(({ pair, defect, signs, half }) => {
    const truth = truths.get(pair)
    if (defect === null || half !== 'tune' || !truth) return []
    return [SIGNS.map((name) => Math.log1p(4 * signs[name]) - Math.log1p(4 * truth[name]))]
  })
  const weights = SIGNS.map(() => 1)
  for (let round = 0; round < ROUNDS; round++) {
    const slope = SIGNS.map(() => 0)
    for (const row of rows) {
      const margin = row.reduce((sum, value, k) => sum + value * weights[k], 0)
      const pull = SHARPNESS / (1 + Math.exp(Math.min(50, SHARPNESS * margin))) / rows.length
      for (let k = 0; k < row.length; k++) slope[k] += pull * row[k]
    }
    for (let k = 0; k < weights.length; k++)
      weights[k] = Math.max(0.02, weights[k] + 0.02 * (slope[k] - 0.02 * (weights[k] - 0.5)))
  }
  return Object.fromEntries(SIGNS.map((name, k) => [name, Number(weights[k].toFixed(2))])) as Signs
}
