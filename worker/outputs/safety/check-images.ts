import {
  DrapeError,
  type SafetyAllowance,
  type SafetyCheck,
  type TryOnImage,
} from '../../../api/shared/contract/errors.ts'
import type { SafetyPolicy } from '../../../api/shared/generations/generation.ts'
import type { Bitmap } from '../../../api/shared/image/image.ts'
import type { Models } from '../../inference/models.ts'
import { findPerson } from '../../vision/person/find-person.ts'
import type { Person } from '../../vision/person/person.ts'
import { onWhite } from '../../vision/raster/bytes.ts'
import type { Plane } from '../../vision/raster/plane.ts'
import { ADULT, AGE_MODEL, estimateAge } from './age.ts'
import { type BareTrunk, measureBareTrunk, measureTrunk } from './bare-trunk.ts'
import { classifyExposure, EXPOSURE_MODEL } from './exposure.ts'

// `scripts/bench safety` measures how often harmless images reach these limits.

/** Probability of nudity from which an image is refused. */
const NUDE = 0.8

/** Max share of the trunk that a result may bare. */
const MAX_BARED = { standard: 0.35, strict: 0.25 } as const

/** An image is exposed if the classifier suspects it and the trunk shows this share of skin: either alone occurs in harmless photos. */
const EXPOSED = { suggestive: 0.75, trunk: 0.45 }

export interface JudgeOptions {
  readonly policy: SafetyPolicy
  /** Checks that operators have allowed for this pair of images. Default: none. */
  readonly allowances?: readonly SafetyAllowance[]
  readonly models: Models
}

export interface JudgedInput {
  readonly image: TryOnImage
  readonly bitmap: Bitmap
  /** The main person in `bitmap`, if already detected. */
  readonly person?: Person
}

/**
 * Judges the photo or the product photo before the engine runs. Returns warnings.
 * @throws NUDITY_DETECTED, EXPOSURE_NOT_ALLOWED, SEVERAL_PEOPLE, AGE_REVIEW, SAFETY_UNAVAILABLE
 */
export async function judgeInput(
  { image, bitmap: decoded, person }: JudgedInput,
  { policy, models, allowances = [] }: JudgeOptions,
): Promise<readonly string[]> {
  const isAllowed = (check: SafetyCheck) =>
    allowances.some((allowance) => allowance.check === check && allowance.image === image)
  const isStrict = policy.level === 'strict'
  if (!models.has(EXPOSURE_MODEL)) return skipCheck(policy)
  const bitmap = onWhite(decoded)
  const { nude, suggestive } = await classifyExposure(bitmap, models.session(EXPOSURE_MODEL))
  if (nude >= NUDE && !isAllowed('nudity'))
    throw refusalError('NUDITY_DETECTED', 'shows nudity', { image, check: 'nudity' })
  if (isStrict && image === 'person' && (person?.people ?? 1) > 1 && !isAllowed('people'))
    throw refusalError('SEVERAL_PEOPLE', 'shows several people', { image, check: 'people' })
  if (!isStrict) return []
  const needsTrunk = !policy.allowsSwimwear && suggestive >= EXPOSED.suggestive && !isAllowed('exposure')
  const needsAge = image === 'person' && models.has(AGE_MODEL) && !isAllowed('age')
  if (!needsTrunk && !needsAge) return []
  const body = person ?? (await findPerson(bitmap, models, { small: false }))
  const trunk = needsTrunk && body ? measureTrunk(bitmap, body) : null
  if (trunk !== null && trunk >= EXPOSED.trunk)
    throw refusalError('EXPOSURE_NOT_ALLOWED', 'shows a person in underwear or swimwear', { image, check: 'exposure' })
  const age = needsAge && body ? await estimateAge(bitmap, body, models.session(AGE_MODEL)) : null
  if (age !== null && age < ADULT) throw reviewError()
  return []
}

/**
 * Judges the result: it must show no nudity, and not much skin of the trunk that the photo does not show.
 * @throws RESULT_REJECTED
 */
export async function judgeResult(
  { result, photo, person, garment, drawn }: JudgedResult,
  { policy, models, allowances = [] }: JudgeOptions,
): Promise<void> {
  const isAllowed = (check: SafetyCheck) => allowances.some((allowance) => allowance.check === check)
  if (!models.has(EXPOSURE_MODEL)) return
  const { nude } = await classifyExposure(result, models.session(EXPOSURE_MODEL))
  if (nude >= NUDE && !isAllowed('result-nudity'))
    throw new DrapeError('RESULT_REJECTED', 'The result shows nudity.', { check: 'result-nudity' })
  if (policy.allowsSwimwear || !person || isAllowed('result-skin')) return
  const limit = MAX_BARED[policy.level]
  const isBare = (share: BareTrunk | null) => (share?.bared ?? 0) > limit
  // Analysing the product photo takes longer than the rest, and few results resemble skin.
  if (
    isBare(measureBareTrunk({ photo, person, ...drawn })) &&
    isBare(measureBareTrunk({ photo, person, garment, ...drawn }))
  )
    throw new DrapeError('RESULT_REJECTED', 'The result shows more skin than the photo and the product require.', {
      check: 'result-skin',
    })
}

export interface JudgedResult {
  /** The result as it is delivered, and the photo that the engine received. */
  readonly result: Bitmap
  readonly photo: Bitmap
  readonly person?: Person
  readonly garment: Bitmap
  /** What the engine returned. */
  readonly drawn: { readonly image: Bitmap; readonly change: Plane }
}

/** Without the classifier, a strict account gets no result, any other account a warning. */
function skipCheck({ level }: SafetyPolicy): readonly string[] {
  if (level === 'standard') return ['SAFETY_CHECK_SKIPPED']
  throw new DrapeError('SAFETY_UNAVAILABLE', 'The worker has no model to check images with.')
}

function refusalError(
  code: 'NUDITY_DETECTED' | 'EXPOSURE_NOT_ALLOWED' | 'SEVERAL_PEOPLE',
  shows: string,
  about: { readonly image: TryOnImage; readonly check: SafetyCheck },
): DrapeError {
  return new DrapeError(code, `The ${about.image === 'person' ? 'photo' : 'product image'} ${shows}.`, about)
}

/** States no age: the estimate is only a reason for a review. */
function reviewError(): DrapeError {
  return new DrapeError(
    'AGE_REVIEW',
    'The photo needs a review by a person: the check cannot tell whether it shows an adult.',
    { image: 'person', check: 'age' },
  )
}
