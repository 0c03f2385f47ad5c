import { DrapeError } from '../../../api/shared/contract/errors.ts'
import type { Engine, EngineContext, EngineInput, EngineResult } from '../../engines/engine.ts'
import type { Models } from '../../inference/models.ts'
import { protectBody } from '../composite/protect-body.ts'
import { checkResult } from '../composite/region.ts'
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
}

// A second drawing of a generative model costs as much as the first; a third is rarely better than both.
const MAX_DRAWS = 2

/**
 * Runs the engine. If the result is below `minQuality` and the seed affects the engine, runs it again with another seed. Returns
 * the better result, with the face of the photo.
 * @throws DrapeError of the engine, and RESULT_REJECTED if the result must not be shown: below the minimum, or a preview with a grave fault.
 */
export async function drawBest(engine: Engine, input: EngineInput, options: DrawOptions): Promise<Drawn> {
  const { minQuality } = options
  const draws = minQuality === null || engine.manifest.ignores?.includes('seed') ? 1 : MAX_DRAWS
  let best = await drawOnce(engine, input, partOf(options, 0, draws))
  for (let k = 1; k < draws && isBelow(best, minQuality); k++) {
    const { seed } = input.options
    const other = await drawOnce(
      engine,
      { ...input, options: { ...input.options, seed: seed + k } },
      partOf(options, k, draws),
    )
    if ((other.quality ?? 1) > (best.quality ?? 1)) best = other
  }
  if (isBelow(best, minQuality))
    throw new DrapeError('RESULT_REJECTED', 'The result is below the minimum quality of the account', {
      image: 'person',
    })
  return best
}

function isBelow({ quality }: Drawn, minQuality: number | null): boolean {
  return quality !== null && minQuality !== null && quality < minQuality
}

// Usually the first draw is the only one. Progress never decreases.
function partOf({ models, signal, onProgress }: DrawOptions, k: number, draws: number): DrawContext {
  const [from, length] = k === 0 ? [0, draws === 1 ? 1 : 0.9] : [0.9, 0.1]
  return { models, signal, onProgress: (part) => onProgress(from + length * part) }
}

type DrawContext = EngineContext & Pick<DrawOptions, 'models'>

async function drawOnce(engine: Engine, input: EngineInput, context: DrawContext): Promise<Drawn> {
  const result = await engine.run(input, context)
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

// Of 26 results below it that were rated by eye, 10 must not be shown and 3 were good enough.
const MIN_PREVIEW = 0.2

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
    strain.outer > strain.skin
      ? 'A coat or jacket in the photo hides the body. Use a photo in close-fitting clothes.'
      : 'The garment leaves skin bare that the clothes in the photo cover. Use a photo with bare arms or another garment.',
    { image: 'person' },
  )
}

// The limits were chosen on results of the geometric engine; those of generative models are not known.
function faultError(fault: Fault): DrapeError {
  return new DrapeError('RESULT_REJECTED', `The result would show a grave fault: ${fault}`, { image: 'person' })
}
