import { ERROR_CODES, ERRORS } from '../../shared/contract/error-codes.ts'
import { WARNING_CATALOGUE } from './warning-catalogue.ts'

/** Error code table of `docs/errors.md`. */
export function describeErrorTable(): string {
  const rows = ERROR_CODES.map(
    (code) => `| \`${code}\` | ${ERRORS[code].status} | ${sentence(ERRORS[code].condition)} | ${ERRORS[code].cure} |`,
  )
  return ['| Code | Status | Cause | Cure |', '|---|---|---|---|', ...rows].join('\n')
}

/** Warning table of `docs/errors.md`. */
export function describeWarningTable(): string {
  const rows = Object.entries(WARNING_CATALOGUE).map(
    ([code, { cause, cure }]) => `| \`${code}\` | ${cause} | ${cure} |`,
  )
  return ['| Warning | Cause | Cure |', '|---|---|---|', ...rows].join('\n')
}

function sentence(text: string): string {
  return `${text[0].toUpperCase()}${text.slice(1)}.`
}
