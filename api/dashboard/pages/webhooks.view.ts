import { type Html, html } from '../../http/answers/html.ts'
import {
  type EditedEndpoint,
  type ListedEndpoint,
  WEBHOOK_EVENTS,
  type WebhookDelivery,
  type WebhookEndpoint,
} from '../../webhooks/webhooks.store.ts'
import { type AccountField, presentAccountField } from '../forms/account-field.ts'
import type { Fields } from '../forms/fields.ts'
import { actForm } from '../forms/form-elements.ts'
import type { Forms } from '../forms/issued-forms.ts'
import { badge, code, copied, disclosure, facts, section, type Tone, when } from '../html/elements.ts'
import { ACCOUNT_COLUMN, accountLink, copiedId } from '../html/ids.ts'
import type { Column, OpenList } from '../html/list.view.ts'
import { time } from '../html/times.ts'
import { stateOf } from './accounts.view.ts'
import { presentSecrets } from './secrets.view.ts'

export const ENDPOINT_COLUMNS: readonly Column<ListedEndpoint>[] = [
  { head: 'URL', of: ['url', 'id'], cell: ({ id, url }) => html`<a href="/webhooks/${id}">${url}</a>` },
  { head: 'State', of: ['isActive'], cell: ({ isActive }) => stateOf(isActive) },
  { head: 'Events', of: ['eventTypes'], cell: ({ eventTypes }) => eventTypes.join(', ') },
  { head: 'Failing since (UTC)', of: ['failingSince'], cell: ({ failingSince }) => time(failingSince) },
  ACCOUNT_COLUMN,
  { head: 'Created (UTC)', of: ['createdAt'] },
]

export function presentNewEndpoint(account: AccountField, forms: Forms): Html {
  return actForm({
    action: '/webhooks',
    forms,
    submit: 'Create endpoint',
    body: (fields) => html`${presentAccountField(fields, account)}
${fields.field({ name: 'url', label: ENDPOINT_SETTINGS.url, type: 'url', required: true, hint: 'An https address that receives the events.' })}${eventTicks(fields, WEBHOOK_EVENTS)}`,
  })
}

/** Labels of the endpoint settings. */
export const ENDPOINT_SETTINGS = { url: 'URL', event: 'Events', isActive: 'Active' } as const

function eventTicks({ ticks }: Fields, chosen: readonly string[]): Html {
  return ticks({
    name: 'event',
    legend: ENDPOINT_SETTINGS.event,
    options: WEBHOOK_EVENTS.map((event) => [event, event] as const),
    checked: (event) => chosen.includes(event),
  })
}

/** Shows a new secret, once. */
export function presentEndpointSecret({ id, secret }: { id: string; secret: string }): Html {
  return html`<p class="caution" role="status">This secret is shown once. The receiver verifies webhooks with it.</p>
${facts([['Secret', copied(secret)]])}<p><a class="button quiet" href="/webhooks/${id}">Open the endpoint</a></p>`
}

export function presentEndpoint({
  accountName,
  endpoint,
  forms,
}: {
  readonly accountName: string | undefined
  readonly endpoint: EditedEndpoint
  readonly forms: Forms
}): Omit<OpenList<WebhookDelivery>, 'listing'> {
  const { id, isActive, disabledReason } = endpoint
  const test = actForm({ action: `/webhooks/${id}/test`, forms, submit: 'Send a test' })
  return {
    title: 'Endpoint',
    caption: 'Deliveries, newest first',
    empty: 'Nothing was delivered in the last 14 days. Send a test event to see whether the endpoint accepts it.',
    before: html`${facts([
      ['ID', copiedId(id)],
      [ENDPOINT_SETTINGS.url, html`<code class="wide">${endpoint.url}</code>`],
      ['State', html`${stateOf(isActive)}${when(disabledReason, html`<br>${disabledReason ?? ''}`)}`],
      ['Failing since (UTC)', time(endpoint.failingSince)],
      ['Account', accountLink({ id: endpoint.accountId, name: accountName })],
    ])}
<h2>Deliveries of the last 14 days</h2>${when(isActive, html`<div class="actions">${test}</div>`)}`,
    chosen: isActive
      ? {
          action: `/webhooks/${id}/deliveries/retry`,
          submit: 'Replay the chosen deliveries',
          isChoosable: ({ data }) => data !== null,
        }
      : undefined,
    after: html`<div class="columns">${section('Settings', settings(endpoint, forms))}${section('Secrets', secrets(endpoint, forms))}</div>
${section('Delete', disclosure('Delete the endpoint and all its deliveries …', actForm({ action: `/webhooks/${id}/delete`, forms, submit: 'Delete the endpoint', danger: true })))}`,
  }
}

const TONES: Readonly<Record<WebhookDelivery['status'], Tone>> = { waiting: 'busy', delivered: 'good', failed: 'bad' }

export const DELIVERY_COLUMNS: readonly Column<WebhookDelivery>[] = [
  { head: 'ID', of: ['id', 'eventId'], cell: ({ id }) => String(id) },
  { head: 'Event', of: ['type'], cell: presentEvent },
  { head: 'State', of: ['status'], cell: ({ status }) => badge(status, TONES[status]) },
  { head: 'Attempts', of: ['attempts'] },
  {
    head: 'Last response',
    of: ['lastError', 'lastStatus'],
    cell: ({ lastStatus, lastError }) => [lastStatus, lastError].filter((part) => part !== null).join(' '),
  },
  { head: 'Last attempt (UTC)', of: ['lastAttemptAt'], cell: ({ lastAttemptAt }) => time(lastAttemptAt) },
  { head: 'Created (UTC)', of: ['createdAt'] },
]

function presentEvent({ type, data }: WebhookDelivery): Html {
  const payload = html`<pre tabindex="0">${JSON.stringify(data, null, 2)}</pre>`
  return html`${code(type)}${when(data, disclosure('Payload', payload))}`
}

function settings({ id, url, eventTypes, isActive, edition }: EditedEndpoint, forms: Forms): Html {
  return actForm({
    action: `/webhooks/${id}`,
    forms,
    submit: 'Save settings',
    readable: true,
    body: (
      fields,
    ) => html`${fields.edition(edition)}${fields.field({ name: 'url', label: ENDPOINT_SETTINGS.url, type: 'url', value: url, required: true })}${eventTicks(fields, eventTypes)}
${fields.tick({ name: 'isActive', label: ENDPOINT_SETTINGS.isActive, value: 'true', checked: isActive })}`,
  })
}

function secrets({ id, secrets: live }: WebhookEndpoint, forms: Forms): Html {
  const add = actForm({ action: `/webhooks/${id}/secrets`, forms, submit: 'Add a new secret' })
  return presentSecrets(live, { path: `/webhooks/${id}`, add, forms })
}
