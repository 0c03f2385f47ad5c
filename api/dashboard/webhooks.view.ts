import { type Html, html } from '../http/answers/html.ts'
import {
  type EditedEndpoint,
  WEBHOOK_EVENTS,
  type WebhookDelivery,
  type WebhookEndpoint,
} from '../webhooks/webhooks.store.ts'
import { stateOf } from './accounts.view.ts'
import {
  badge,
  type Content,
  code,
  copied,
  disclosure,
  facts,
  section,
  type Tone,
  table,
  time,
  when,
} from './elements.ts'
import type { Fields } from './fields.ts'
import { actForm, permittedLink } from './form-elements.ts'
import { accountLink, copiedId } from './ids.ts'
import type { Forms } from './issued-forms.ts'
import { presentSecrets } from './secrets.view.ts'

export function presentEndpoints(
  endpoints: readonly WebhookEndpoint[],
  { names, forms }: { names: ReadonlyMap<string, string>; forms: Forms },
): Html {
  return html`${table({
    caption: 'Webhook endpoints',
    head: ['URL', 'State', 'Events', 'Failing since (UTC)', 'Account'],
    rows: endpoints.map(({ id, url, isActive, eventTypes, failingSince, accountId }) => [
      html`<a href="/webhooks/${id}">${url}</a>`,
      stateOf(isActive),
      eventTypes.join(', '),
      time(failingSince),
      accountLink({ id: accountId, name: names.get(accountId) }),
    ]),
    empty: html`There are no endpoints yet. ${permittedLink({ forms, path: '/webhooks/new' }, 'Create one', 'Create one')} to notify a server when a generation ends.`,
  })}`
}

export function presentNewEndpoint({
  account,
  suggestions,
  forms,
}: {
  account: string
  suggestions: readonly string[]
  forms: Forms
}): Html {
  return actForm({
    action: '/webhooks',
    forms,
    submit: 'Create endpoint',
    body: (
      fields,
    ) => html`${fields.field({ name: 'account', label: 'Account', value: account, required: true, suggestions, hint: 'Type a part of its name or e-mail address, or its ID.' })}
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

interface EndpointPage {
  readonly accountName: string | undefined
  readonly endpoint: EditedEndpoint
  readonly deliveries: readonly WebhookDelivery[]
  readonly failed: boolean
  readonly forms: Forms
}

export function presentEndpoint({ accountName, endpoint, deliveries, failed, forms }: EndpointPage): Html {
  const { id, isActive, disabledReason } = endpoint
  return html`${facts([
    ['ID', copiedId(id)],
    [ENDPOINT_SETTINGS.url, html`<code class="wide">${endpoint.url}</code>`],
    ['State', html`${stateOf(isActive)}${when(disabledReason, html`<br>${disabledReason ?? ''}`)}`],
    ['Failing since (UTC)', time(endpoint.failingSince)],
    ['Account', accountLink({ id: endpoint.accountId, name: accountName })],
  ])}
${section('Deliveries of the last 14 days', presentDeliveries({ endpoint, deliveries, failed, forms }))}
<div class="columns">${section('Settings', settings(endpoint, forms))}${section('Secrets', secrets(endpoint, forms))}</div>
${section('Delete', disclosure('Delete the endpoint and all its deliveries …', actForm({ action: `/webhooks/${id}/delete`, forms, submit: 'Delete the endpoint', danger: true })))}`
}

const TONES: Readonly<Record<WebhookDelivery['status'], Tone>> = { waiting: 'busy', delivered: 'good', failed: 'bad' }

function presentDeliveries({ endpoint, deliveries, failed, forms }: Omit<EndpointPage, 'accountName'>): Html {
  const { id, isActive } = endpoint
  const other = failed
    ? html`<a href="/webhooks/${id}">Show all</a>`
    : html`<a href="?only=failed">Show failed deliveries only</a>`
  const test = actForm({ action: `/webhooks/${id}/test`, forms, submit: 'Send a test' })
  return html`<div class="actions">${when(isActive, test)}<p>${other}</p></div>${table({
    caption: 'Deliveries, newest first',
    head: ['ID', 'Event', 'State', 'Attempts', 'Last response', 'Last attempt (UTC)', 'Replay'],
    actions: true,
    rows: deliveries.map((delivery): Content[] => [
      String(delivery.id),
      html`${code(delivery.type)}${when(delivery.data, disclosure('Payload', html`<pre tabindex="0">${JSON.stringify(delivery.data, null, 2)}</pre>`))}`,
      badge(delivery.status, TONES[delivery.status]),
      String(delivery.attempts),
      [delivery.lastStatus, delivery.lastError].filter((part) => part !== null).join(' '),
      time(delivery.lastAttemptAt),
      isActive && delivery.data !== null
        ? actForm({ action: `/webhooks/${id}/deliveries/${delivery.id}/retry`, forms, submit: 'Replay' })
        : '',
    ]),
    empty: 'Nothing was delivered in the last 14 days. Send a test event to see whether the endpoint accepts it.',
    numeric: [0, 3],
  })}`
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
