import { DrapeError } from '../shared/contract/errors.ts'

/** As in `location.hostname`: letters, digits and hyphens between dots. */
export const HOST_NAME =
  '^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$'

const MAX_DOMAINS = 20
const isHostName = (text: string) => text.length <= 253 && new RegExp(HOST_NAME).test(text)

/**
 * Parses a list of domains, separated by commas, spaces or lines, and converts them to lower case.
 * @throws DrapeError VALIDATION_FAILED for more than 20 domains, or a text that is not a host name
 */
export function parseDomains(text: string): string[] {
  const domains = [
    ...new Set(
      text
        .toLowerCase()
        .split(/[\s,]+/)
        .filter((part) => part !== ''),
    ),
  ]
  const wrong = domains.find((domain) => !isHostName(domain))
  if (wrong !== undefined) throw invalid(`must be host names such as www.shop.example; ${wrong} is not`)
  if (domains.length > MAX_DOMAINS) throw invalid(`must have at most ${MAX_DOMAINS} domains`)
  return domains
}

function invalid(message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `The extra domains ${message}.`, {
    details: [{ path: 'extraDomains', message }],
  })
}
