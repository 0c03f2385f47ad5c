import type { PolicyVersion } from '../../consents/consents.store.ts'
import { NEUTRAL_TEXTS } from '../../consents/neutral-policy.ts'
import { type Html, html } from '../../http/answers/html.ts'
import type { ShopRecord } from '../../shops/shops.store.ts'
import { actForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { code, count, disclosure, facts } from '../html/elements.ts'

const NAMES = new Intl.DisplayNames('en', { type: 'language' })

/** Codes and names of the languages of the widget. The command line publishes others. */
export const POLICY_LANGUAGES = Object.keys(NEUTRAL_TEXTS).map((code) => [code, NAMES.of(code) ?? code] as const)

interface PolicySection {
  readonly current: PolicyVersion
  readonly given: number
  readonly withdrawn: number
  readonly forms: Forms
}

/** What visitors agree to, and a form for the next version, which proposes the current texts. */
export function presentPolicy(shop: ShopRecord, { current, given, withdrawn, forms }: PolicySection): Html {
  const texts = Object.entries(current.texts).map(
    ([language, text]) => html`<dt>${language}</dt><dd lang="${language}" dir="auto">${text}</dd>`,
  )
  const form = actForm({
    action: `/shops/${shop.id}/policies`,
    forms,
    submit: 'Publish version',
    body: ({
      field,
    }) => html`${field({ name: 'version', label: 'New version', required: true, hint: 'For example 2026-11. A published version cannot be changed, and visitors are asked again. With its first version the shop requires consent.' })}
${POLICY_LANGUAGES.map(([language, label]) => field({ name: language, label: `Text in ${label}`, rows: 4, value: current.texts[language], hint: 'Plain text, at most 4,000 characters.' }))}`,
  })
  return html`${facts([
    ['Required before a photo is stored', shop.requiresConsent ? 'yes' : 'no'],
    ['Version', code(current.version)],
    ['Consents', count(given)],
    ['Withdrawn', count(withdrawn)],
  ])}${disclosure('Text that visitors agree to', html`<dl>${texts}</dl>`)}${disclosure('Publish a new version …', form)}`
}
