import { type Html, html } from '../../http/answers/html.ts'
import { DrapeError } from '../../shared/contract/errors.ts'
import { Type } from '../../shared/contract/schema.ts'
import type { Fields } from '../forms/fields.ts'

/** A time in UTC with seconds. */
export function time(date: Date | null): Html {
  if (date === null) return html`<span class="none">never</span>`
  const iso = date.toISOString()
  return html`<time datetime="${iso}">${iso.slice(0, 10)} ${iso.slice(11, 19)}</time>`
}

/** Format of a time in a browser's field, in UTC. */
export const Minute = Type.Optional(Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}(:\\d{2})?$' }))

/** The fields of a search that `Minute` reads. */
export function timeFields({ field }: Pick<Fields, 'field'>, query: URLSearchParams): Html {
  return html`${field({ name: 'from', label: 'From (UTC)', type: 'datetime-local', value: query.get('from') })}
${field({ name: 'to', label: 'To (UTC)', type: 'datetime-local', value: query.get('to') })}`
}

/** The time in a field of a search, or null. Throws `VALIDATION_FAILED`: a text in this format may still be an invalid time. */
export function readTime(path: string, text: string | undefined): Date | null {
  if (text === undefined) return null
  const time = new Date(`${text}Z`)
  if (!Number.isNaN(time.getTime())) return time
  throw new DrapeError('VALIDATION_FAILED', 'The search is not valid.', {
    details: [{ path, message: 'must be a time like 2027-01-31T12:00' }],
  })
}
