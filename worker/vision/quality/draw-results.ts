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
import { findStrain, previewQuality, worstStrain } from './preview-quality.ts'

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
  /** At least one, in the order of the seeds. */
  readonly drawn: readonly Drawn[]
  readonly refused: readonly Refused[]
}

/**
 * Draws a result for each seed of the options. Results have the face of the photo.
 * @throws DrapeError of the engine, and RESULT_REJECTED if no result may be shown.
 */
export async function drawResults(
  engine: Engine,
  input: EngineInput & { readonly options: { readonly count?: number } },
  options: DrawOptions,
): Promise<Drawings> {
  const seeds = seedsOf(input.options)
  const runSeeds = seeds.length > 1 ? engine.runSeeds : undefined
  const results = await (runSeeds?.(input, seeds, options) ?? runInTurn(engine, input, seeds, options))
  const [drawn, refused]: [Drawn[], Refused[]] = [[], []]
  for (const [i, seed] of seeds.entries()) {
    try {
      drawn.push({ ...(await judge(engine, { input, result: results[i] }, options)), seed })
    } catch (error) {
      if (!(error instanceof DrapeError)) throw error
      refused.push({ seed, error })
    }
  }
  if (drawn.length === 0) throw refused[0].error
  return { drawn, refused }
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

/** @throws DrapeError if it is the result, or if the result must not be shown */
async function judge(
  engine: Engine,
  { input, result }: { input: EngineInput; result: EngineResult | DrapeError },
  options: DrawOptions,
): Promise<Omit<Drawn, 'seed'>> {
  if (result instanceof DrapeError) throw result
  const { found, person: photo } = input
  const { image, change, labels } = result
  const { kind, accepts } = engine.manifest
  // A test engine returns the photo unchanged: there is nothing to protect.
  if (found && kind !== 'test') protectBody(change, found, photo)
  if (accepts.needsPerson) checkResult(result, photo, null)
  // Nobody has rated results of other engines.
  const isRated = found && labels && kind === 'preview'
  return { ...result, quality: isRated ? await qualityOfPreview(labels, { image, found }, options) : null }
}

// Of 18 results below it that were rated by eye, 6 must not be shown and 5 were good enough.
const MIN_PREVIEW = 0.3

async function qualityOfPreview(
  labels: PersonLabels,
  { image, found }: { image: Bitmap; found: Person },
  { models, minQuality }: DrawOptions,
): Promise<number> {
  const after = await parsePerson(createPyramid(image), personAtSize(found, image), models.session('parser'))
  const strain = findStrain(labels, after)
  const quality = previewQuality(strain)
  if (quality >= Math.max(MIN_PREVIEW, minQuality ?? 0)) return quality
  const limit =
    quality < MIN_PREVIEW
      ? ''
      : ` The quality is ${percent(quality)}; the account's minimum is ${percent(minQuality ?? 0)}.`
  throw new DrapeError('RESULT_REJECTED', `${ADVICE[worstStrain(strain)]}${limit}`, { image: 'person' })
}

const ADVICE = {
  skin: 'The garment leaves skin bare that the clothes in the photo cover. Use a photo with bare arms, or another garment.',
  background: 'Wide clothes or things before the body hide it. Use a photo in close-fitting clothes, with empty hands.',
  outer: 'A coat or a jacket in the photo hides the body. Use a photo in close-fitting clothes.',
} as const

function percent(share: number): string {
  return `${Math.floor(100 * share)} %`
}
