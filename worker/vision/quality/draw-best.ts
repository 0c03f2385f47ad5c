import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { seedsOf } from '../../../api/shared/generations/generation.ts'
import type { Engine, EngineContext, EngineInput, EngineResult } from '../../engines/engine.ts'
import type { Models } from '../../inference/models.ts'
import { checkResult } from '../composite/check-result.ts'
import { protectBody } from '../composite/protect-body.ts'
import { type PersonLabels, parsePerson } from '../person/parse.ts'
import type { Person } from '../person/person.ts'
import { personAtSize } from '../person/within.ts'
import type { Bitmap } from '../raster/plane.ts'
import { createPyramid } from '../raster/pyramid.ts'
import type { Fault } from './faults.ts'
import { faultOf, judgeResult, previewQuality } from './score.ts'
import { findStrain } from './strain.ts'

export interface DrawOptions extends EngineContext {
  readonly models: Models
  /** 0 to 1; null: no minimum. */
  readonly minQuality: number | null
}

export interface Drawn extends EngineResult {
  /** 0 to 1; null if unknown. */
  readonly quality: number | null
  readonly seed: number
}

/** A result that must not be shown. */
interface Refused {
  readonly seed: number
  readonly error: DrapeError
}

export interface Drawings {
  /** At least one, best first. */
  readonly drawn: readonly Drawn[]
  readonly refused: readonly Refused[]
}

// A second drawing of a generative model costs as much as the first; a third is rarely better than both.
const MAX_DRAWS = 2

/**
 * Draws a result for each seed of the options. If one is below `minQuality` and the seed affects the engine, draws it again with another
 * seed, and takes the better one. Results have the face of the photo.
 * @throws DrapeError of the engine, and RESULT_REJECTED if no result may be shown: below the minimum, or a preview with a grave fault.
 */
export async function drawBest(
  engine: Engine,
  input: EngineInput & { readonly options: { readonly count?: number } },
  options: DrawOptions,
): Promise<Drawings> {
  const { minQuality } = options
  const { count = 1 } = input.options
  const draws = minQuality === null || engine.manifest.ignores?.includes('seed') ? 1 : MAX_DRAWS
  const outcomes = await drawSeeds(engine, input, seedsOf(input.options), partOf(options, 0, draws))
  for (let k = 1; k < draws; k++) {
    const weak = outcomes.flatMap((outcome, i) => (isBelow(outcome, minQuality) ? [i] : []))
    if (weak.length === 0) break
    // Not the seeds of the other results.
    const seeds = weak.map((i) => (outcomes[i].seed + k * count) % 2 ** 31)
    const others = await drawSeeds(engine, input, seeds, partOf(options, k, draws))
    for (const [j, i] of weak.entries()) outcomes[i] = betterOf(outcomes[i], others[j])
  }
  const refused = outcomes.flatMap((outcome) => refusalOf(outcome, minQuality) ?? [])
  const drawn = outcomes.filter((outcome) => 'image' in outcome && !isBelow(outcome, minQuality)) as Drawn[]
  if (drawn.length === 0) throw refused[0].error
  return { drawn: drawn.toSorted((a, b) => (b.quality ?? -1) - (a.quality ?? -1)), refused }
}

type Outcome = Drawn | Refused

function isBelow(outcome: Outcome, minQuality: number | null): boolean {
  return 'image' in outcome && outcome.quality !== null && minQuality !== null && outcome.quality < minQuality
}

function betterOf(one: Outcome, other: Outcome): Outcome {
  if (!('image' in other)) return one
  return 'image' in one && (other.quality ?? 1) <= (one.quality ?? 1) ? one : other
}

function refusalOf(outcome: Outcome, minQuality: number | null): Refused | null {
  if (!('image' in outcome)) return outcome
  if (!isBelow(outcome, minQuality)) return null
  const message = 'The result is below the minimum quality of the account'
  return { seed: outcome.seed, error: new DrapeError('RESULT_REJECTED', message, { image: 'person' }) }
}

// Usually the first draw is the only one. Progress never decreases.
function partOf({ models, signal, onProgress }: DrawOptions, k: number, draws: number): DrawContext {
  const [from, length] = k === 0 ? [0, draws === 1 ? 1 : 0.9] : [0.9, 0.1]
  return { models, signal, onProgress: (part) => onProgress(from + length * part) }
}

type DrawContext = EngineContext & Pick<DrawOptions, 'models'>

/** Draws and judges a result for each seed. Throws an error that does not depend on the seed. */
async function drawSeeds(
  engine: Engine,
  input: EngineInput,
  seeds: readonly number[],
  context: DrawContext,
): Promise<Outcome[]> {
  const runSeeds = seeds.length > 1 ? engine.runSeeds : undefined
  const results = await (runSeeds?.(input, seeds, context) ?? runInTurn(engine, input, seeds, context))
  const outcomes: Outcome[] = []
  for (const [i, seed] of seeds.entries()) outcomes.push(await judged(results[i], seed, { engine, input, context }))
  return outcomes
}

async function judged(
  result: EngineResult | DrapeError,
  seed: number,
  { engine, input, context }: { engine: Engine; input: EngineInput; context: DrawContext },
): Promise<Outcome> {
  if (result instanceof DrapeError) return { seed, error: result }
  try {
    return { ...(await judge(engine, { input, result }, context)), seed }
  } catch (error) {
    if (error instanceof DrapeError) return { seed, error }
    throw error
  }
}

async function runInTurn(
  engine: Engine,
  input: EngineInput,
  seeds: readonly number[],
  { signal, onProgress }: EngineContext,
): Promise<EngineResult[]> {
  const results: EngineResult[] = []
  for (const [i, seed] of seeds.entries()) {
    const context = { signal, onProgress: (part: number) => onProgress((i + part) / seeds.length) }
    results.push(await engine.run({ ...input, options: { ...input.options, seed } }, context))
  }
  return results
}

async function judge(
  engine: Engine,
  { input, result }: { input: EngineInput; result: EngineResult },
  context: DrawContext,
): Promise<Omit<Drawn, 'seed'>> {
  const { person: photo, garment } = input
  // A test engine returns the photo unchanged: there is nothing to protect or to judge.
  const found = engine.manifest.kind === 'test' ? undefined : input.found
  if (found) protectBody(result.change, found, photo)
  if (engine.manifest.accepts.needsPerson) checkResult(result, photo, null)
  const { image, change, product, labels } = result
  if (!found) return { ...result, quality: null }
  const drawn = { photo, person: found, garment, image, change }
  if (engine.manifest.kind !== 'preview') return { ...result, quality: judgeResult(drawn, product)?.quality ?? null }
  const fault = faultOf(drawn, product)
  if (fault) throw faultError(fault)
  return { ...result, quality: labels ? await qualityOfPreview(labels, { image, found }, context) : null }
}

// Of 18 results below it that were rated by eye, 6 must not be shown and 5 were good enough.
const MIN_PREVIEW = 0.3

async function qualityOfPreview(
  labels: PersonLabels,
  { image, found }: { image: Bitmap; found: Person },
  { models }: DrawContext,
): Promise<number> {
  const after = await parsePerson(createPyramid(image), personAtSize(found, image), models.session('parser'))
  const strain = findStrain(labels, after)
  const quality = previewQuality(strain)
  if (quality >= MIN_PREVIEW) return quality
  throw new DrapeError(
    'RESULT_REJECTED',
    strain.outer + strain.background > strain.skin
      ? 'A coat, a jacket or other wide clothes in the photo hide the body. Use a photo in close-fitting clothes.'
      : 'The garment leaves skin bare that the clothes in the photo cover. Use a photo with bare arms or another garment.',
    { image: 'person' },
  )
}

// The limits were chosen on results of the geometric engine; those of generative models are not known.
function faultError(fault: Fault): DrapeError {
  return new DrapeError('RESULT_REJECTED', `The result would show a grave fault: ${fault}`, { image: 'person' })
}
