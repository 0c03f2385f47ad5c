import { ERROR_CODES } from '../../shared/contract/errors.ts'
import { HTTP_STATUS } from '../middleware/errors.ts'
import { ERROR_CONDITIONS } from './error-conditions.ts'
import { ERROR_CURES } from './error-cures.ts'
import { WARNING_CATALOGUE } from './warning-catalogue.ts'

/** Error code table of `docs/errors.md`. */
export function describeErrorTable(): string {
  const rows = ERROR_CODES.map(
    (code) => `| \`${code}\` | ${HTTP_STATUS[code]} | ${sentence(ERROR_CONDITIONS[code])} | ${ERROR_CURES[code]} |`,
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
