import { type Html, html } from '../html.ts'
import type { KeyRecord } from '../stores/api-keys.ts'
import { actForm, badge, type Content, choice, code, disclosure, table, time } from './elements.ts'

/** The keys of an account, which are known by their ids alone, and what can be done with them. */
export function presentKeys({
  accountId,
  keys,
  csrf,
}: {
  accountId: string
  keys: readonly KeyRecord[]
  csrf: string
}): Html {
  const form = actForm({
    action: `/accounts/${accountId}/keys`,
    csrf,
    submit: 'Create key',
    body: choice({
      name: 'kind',
      label: 'Kind of the new key',
      options: [
        ['secret', 'secret, for servers'],
        ['publishable', 'publishable, for browsers'],
      ],
    }),
  })
  return html`${table({
    caption: 'Keys',
    head: ['Id', 'Kind', 'State', 'Since', 'Change'],
    rows: keys.map((key): Content[] => [
      code(key.id),
      key.kind,
      key.revokedAt === null ? badge('live', 'good') : html`${badge('revoked', 'quiet')} ${time(key.revokedAt)}`,
      time(key.createdAt),
      key.revokedAt === null ? changes({ accountId, id: key.id, csrf }) : '',
    ]),
    empty: 'The account has no key.',
  })}${form}`
}

function changes({ accountId, id, csrf }: { accountId: string; id: string; csrf: string }): Html {
  const place = `/accounts/${accountId}/keys/${id}`
  return disclosure(
    'End it …',
    html`<p>Whoever uses it is refused from now on. To change over without a gap, create another key first.</p>
${actForm({ action: `${place}/rotate`, csrf, submit: 'Replace it by a new key', danger: true })}
${actForm({ action: `${place}/revoke`, csrf, submit: 'Revoke it', danger: true })}`,
  )
}
