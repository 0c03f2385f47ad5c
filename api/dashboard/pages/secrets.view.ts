import { type Html, html } from '../../http/answers/html.ts'
import { actForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { disclosure, table } from '../html/elements.ts'
import { time } from '../html/times.ts'

/**
 * The active secrets (at most 2) of the object with `path`, and the form that adds a secret or removes the older one.
 */
export function presentSecrets(
  live: readonly { readonly createdAt: string }[],
  { path, add, forms }: { path: string; add: Html; forms: Forms },
): Html {
  const remove = actForm({ action: `${path}/secrets/remove`, forms, submit: 'Remove the older secret', danger: true })
  return html`${table({
    caption: 'Live secrets, newest first',
    head: ['Live since (UTC)'],
    rows: live.map(({ createdAt }) => [time(new Date(createdAt))]),
    empty: 'No secrets.',
  })}${live.length < 2 ? add : disclosure('Remove the older secret …', remove)}`
}
