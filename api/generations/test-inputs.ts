import { FAILURE_CODES } from '../shared/contract/error-codes.ts'
import { DrapeError, type ErrorCode } from '../shared/contract/errors.ts'

/** Behaviour of a try-on with a test key, as its `externalUserId` requests. */
export interface TestInput {
  /** Seconds until the try-on starts. */
  readonly delaySeconds: number
  /** Error code of the failure; null: the try-on completes. */
  readonly code: ErrorCode | null
  /** Whether the try-on fails near its end instead of at its start. */
  readonly isLate: boolean
  readonly warnings: readonly string[]
}

/** Warnings about photos and results, as workers report them. */
export const TEST_WARNINGS: readonly string[] = [
  ...['no_person', 'several_people', 'too_small', 'blurred', 'truncated', 'too_dark'],
  ...['SEED_IGNORED', 'MODE_IGNORED', 'WATERMARK_MISSING', 'SAFETY_CHECK_SKIPPED'],
  ...['PRODUCT_HIDDEN', 'PRODUCT_LEFT_OUT'],
  ...[
    'OLD_HEM_VISIBLE',
    'OLD_GARMENT_REMAINS',
    'OLD_GARMENT_LONGER',
    'LARGE_SKIN_INVENTED',
    'LARGE_BACKGROUND_INVENTED',
    'SLEEVE_FOLDED',
    'GARMENT_ASYMMETRIC',
    'GARMENT_STRETCHED',
    'GARMENT_FROM_MODEL',
    'HEM_OUTSIDE_PICTURE',
    'PERSON_TURNED',
    'RESULT_ENLARGED',
    'CATEGORY_ASSUMED',
    'POSE_WITHOUT_HANDS',
  ],
]

const MAX_DELAY_SECONDS = 300
const PATTERN = /^test_(?:delay_(\d{1,3})s(?:_(?=.)|$))?(?:warning_(\w+)|(late_)?([A-Z_]+))?$/
const NONE: TestInput = { delaySeconds: 0, code: null, isLate: false, warnings: [] }

/**
 * Parses `test_RESULT_REJECTED`, `test_delay_30s`, `test_late_GENERATION_FAILED`, `test_delay_5s_late_RESULT_REJECTED`,
 * `test_warning_SEED_IGNORED`. A text that does not start with `test_` requests nothing. Throws `VALIDATION_FAILED` for
 * other texts that start with `test_`, so that a typo does not look like success.
 */
export function readTestInput(externalUserId: string | null): TestInput {
  if (externalUserId === null || !externalUserId.startsWith('test_')) return NONE
  const found = PATTERN.exec(externalUserId)
  const [, delay, warning, late, name] = found ?? []
  const delaySeconds = Number(delay ?? 0)
  const code = FAILURE_CODES.find((known) => known === name) ?? null
  const isKnown = (name === undefined || code !== null) && (warning === undefined || TEST_WARNINGS.includes(warning))
  const isEmpty = [delay, warning, name].every((part) => part === undefined)
  if (found === null || isEmpty || !isKnown || delaySeconds > MAX_DELAY_SECONDS) throw unknownInput()
  return { delaySeconds, code, isLate: late !== undefined, warnings: warning === undefined ? [] : [warning] }
}

/** The warning in `test_warning_blurred`; empty for any other text. */
export function readTestWarnings(externalUserId: string | null): readonly string[] {
  return TEST_WARNINGS.filter((warning) => externalUserId === `test_warning_${warning}`)
}

function unknownInput(): DrapeError {
  const message = `must be an input of docs/test-mode.md such as test_RESULT_REJECTED, test_late_GENERATION_FAILED, test_delay_30s (at most ${MAX_DELAY_SECONDS}) or test_warning_SEED_IGNORED, or not start with test_`
  return new DrapeError('VALIDATION_FAILED', `With a test key, externalUserId ${message}.`, {
    details: [{ path: 'externalUserId', message }],
  })
}
