import { DrapeError, ERROR_CODES, type ErrorCode } from '../shared/errors.ts'

/** What a try-on with a test key does, as its `externalUserId` asks. */
export interface TestInput {
  /** Until it starts. */
  readonly delaySeconds: number
  /** With which it fails; null completes it. */
  readonly code: ErrorCode | null
  /** Whether it fails near its end instead of at its start. */
  readonly isLate: boolean
  readonly warnings: readonly string[]
}

/** Codes of generations that fail after they were accepted, with what they say. */
export const TEST_FAILURES: Readonly<Partial<Record<ErrorCode, string>>> = {
  GENERATION_FAILED: 'The generation failed after several attempts.',
  GENERATION_TIMEOUT: 'The generation was not finished before its deadline.',
  GENERATION_CANCELLED: 'The generation was cancelled.',
  NO_PERSON_DETECTED: 'The photo shows no person.',
  RESULT_REJECTED: 'The result did not pass the checks.',
  INVALID_IMAGE: 'The image is damaged.',
  UNSUPPORTED_IMAGE_TYPE: 'The image is not JPEG, PNG, WebP or HEIC.',
  FILE_TOO_LARGE: 'The image is larger than 10 MB.',
  PRODUCT_IMAGE_FETCH_FAILED: 'The image of the product could not be downloaded.',
  MISSING_REQUIRED_CLASSIFICATION: 'No image of the product can serve the engine.',
}

/** Warnings of results, as workers give them. */
export const TEST_WARNINGS = ['SEED_IGNORED', 'MODE_IGNORED', 'WATERMARK_MISSING'] as const

const MAX_DELAY_SECONDS = 300
const PATTERN = /^test_(?:delay_(\d{1,3})s(?:_|$))?(late_)?(?:warning_)?([A-Z_]*)$/
const NONE: TestInput = { delaySeconds: 0, code: null, isLate: false, warnings: [] }

/**
 * Reads `test_RESULT_REJECTED`, `test_delay_30s`, `test_late_GENERATION_FAILED`, `test_delay_5s_late_RESULT_REJECTED`,
 * `test_warning_SEED_IGNORED`; anything that does not start with `test_` asks for nothing. Throws `VALIDATION_FAILED` for other texts
 * that do, so that a typo does not pass for success.
 */
export function readTestInput(externalUserId: string | null): TestInput {
  if (externalUserId === null || !externalUserId.startsWith('test_')) return NONE
  const [matched, delay = '0', late, name = ''] = PATTERN.exec(externalUserId) ?? []
  const delaySeconds = Number(delay)
  const isWarning = externalUserId.includes('warning_')
  const code = ERROR_CODES.find((known) => known === name && known in TEST_FAILURES && !isWarning) ?? null
  const warning = isWarning ? TEST_WARNINGS.filter((known) => known === name) : []
  const isNamed = name === '' ? delay !== '0' && late === undefined && !isWarning : code !== null || warning.length > 0
  if (matched === undefined || !isNamed || delaySeconds > MAX_DELAY_SECONDS || (late !== undefined && code === null)) {
    const message = `must be a test input such as test_RESULT_REJECTED, test_late_GENERATION_FAILED, test_delay_30s (at most ${MAX_DELAY_SECONDS}) or test_warning_SEED_IGNORED, or not start with test_`
    throw new DrapeError('VALIDATION_FAILED', `With a test key, externalUserId ${message}.`, {
      details: [{ path: 'externalUserId', message }],
    })
  }
  return { delaySeconds, code, isLate: late !== undefined, warnings: warning }
}
