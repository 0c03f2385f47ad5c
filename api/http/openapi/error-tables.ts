import { ERROR_CODES, ERRORS } from '../../shared/contract/error-codes.ts'
import { WARNING_CATALOGUE } from './warning-catalogue.ts'

/** Error code table of `docs/errors.md`. */
export function describeErrorTable(): string {
  const rows = ERROR_CODES.map(
    (code) => `| \`${code}\` | ${ERRORS[code].status} | ${sentence(ERRORS[code].condition)} | ${ERRORS[code].cure} |`,
  )
  return ['| Code | Status | Cause | Cure |', '|---|---|---|---|', ...rows].join('\n')
}

/** The codes that need an explanation of their status in the sentence of `docs/errors.md`. */
export function describeFailuresOnly(): string {
  const codes = ERROR_CODES.filter((code) => ERRORS[code].status === 500 && ERRORS[code].failure === 'only')
  return codes.map((code) => `\`${code}\``).join(', ')
}

/** Warning table of `docs/errors.md`. A cure is written once for consecutive warnings. */
export function describeWarningTable(): string {
  const entries = Object.entries(WARNING_CATALOGUE)
  const rows = entries.map(
    ([code, { cause, cure }], i) =>
      `| \`${code}\` | ${cause} | ${cure === entries[i - 1]?.[1].cure ? 'The same.' : cure} |`,
  )
  return ['| Warning | Cause | Cure |', '|---|---|---|', ...rows].join('\n')
}

function sentence(text: string): string {
  return `${text[0].toUpperCase()}${text.slice(1)}.`
}
