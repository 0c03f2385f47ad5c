import { toJson } from '../client/json.ts'
import { storefrontContext, trackingContext } from './event-context.ts'
import type { Settings } from './settings.ts'
import { newId, type Visit } from './visit.ts'

/** Records an event. Never throws and never waits. */
export type Track = (event: string, properties?: Readonly<Record<string, unknown>>) => void

export interface Events {
  readonly track: Track
  /** Sends the waiting events and stops. */
  stop(): void
}

interface NotedEvent {
  readonly event: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly timestamp: string
  readonly $insert_id: string
}

const BATCH = 50
/** Maximum number of waiting events; older ones are dropped while the service is unavailable. */
const MAX_WAITING = 200
const PAUSE_MS = 800
const MAX_PAUSE_MS = 60_000
/** Maximum number of refusals of a batch, after which it is dropped. */
const MAX_REFUSALS = 3

/** Sends events in batches, retries failed ones with the same IDs, and sends the last ones when the page is left. */
export function startEvents(settings: Settings, visit: Visit, isEnabled: () => boolean): Events {
  const post = settings.publishableKey === null ? postTracking : postStorefront
  let waiting: NotedEvent[] = []
  let timer: ReturnType<typeof setTimeout> | undefined
  let pauseMs = PAUSE_MS
  let isSending = false
  let refusals = 0

  async function send(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    if (isSending || waiting.length === 0) return
    isSending = true
    const batch = waiting.splice(0, BATCH)
    const { outcome: answer, retrySeconds } = await post(batch, { settings, visit, isEnabled: isEnabled() }).catch(
      () => LOST,
    )
    isSending = false
    refusals = answer === 'refused' ? refusals + 1 : 0
    const isTaken = answer === 'taken' || refusals >= MAX_REFUSALS
    pauseMs = isTaken ? PAUSE_MS : Math.max(Math.min(pauseMs * 4, MAX_PAUSE_MS), retrySeconds * 1000)
    if (!isTaken) waiting = [...batch, ...waiting].slice(-MAX_WAITING)
    if (waiting.length > 0) plan()
  }

  function plan(): void {
    timer ??= setTimeout(send, pauseMs)
  }

  const onHidden = () => document.visibilityState === 'hidden' && void send()
  const onLeave = () => void send()
  document.addEventListener('visibilitychange', onHidden)
  addEventListener('pagehide', onLeave)
  return {
    track: (event, properties = {}) => {
      const name = nameOf(event, settings)
      if (!settings.hasAnalytics || name === null) return
      const noted = {
        product_id: settings.product,
        ...(settings.variant && { variant_id: settings.variant }),
        ...properties,
      }
      waiting.push({ event: name, properties: noted, timestamp: new Date().toISOString(), $insert_id: newId() })
      plan()
    },
    stop: () => {
      document.removeEventListener('visibilitychange', onHidden)
      removeEventListener('pagehide', onLeave)
      void send()
    },
  }
}

/** Names of events that differ in `/storefront/v1/events`. */
const STOREFRONT_NAMES: Readonly<Record<string, string>> = {
  'product_page:page_view': 'product_page:page_view',
  'product_page:cart_add': 'product_page:cart_add',
  'widget:button_click': 'widget:button_click',
  'widget:image_upload': 'widget:image_upload',
  'widget:generation_start': 'widget:generation_start',
  'widget:result_view': 'widget:result_view',
  'widget:share_clicked': 'widget:share_clicked',
  'widget:download_clicked': 'widget:download_clicked',
  'widget:add_to_cart_clicked': 'widget:add_to_cart_clicked',
  'widget:add_to_cart_success': 'widget:add_to_cart',
  'widget:email_collected': 'widget:email_collected',
}

function nameOf(event: string, { publishableKey }: Settings): string | null {
  return publishableKey === null ? event : (STOREFRONT_NAMES[event] ?? null)
}

interface Sender {
  readonly settings: Settings
  readonly visit: Visit
  readonly isEnabled: boolean
}

function postTracking(events: readonly NotedEvent[], { settings, visit, isEnabled }: Sender): Promise<Outcome> {
  if (settings.proxy === null) return Promise.resolve(TAKEN)
  const context = trackingContext(settings, visit, isEnabled)
  return post(`${settings.proxy}/public/tracking/events`, { events, context }, {})
}

function postStorefront(events: readonly NotedEvent[], { settings, visit, isEnabled }: Sender): Promise<Outcome> {
  const base = settings.service ?? settings.proxy
  if (base === null) return Promise.resolve(TAKEN)
  const context = storefrontContext(settings, visit, isEnabled)
  return post(
    `${base}/storefront/v1/events`,
    { events, context },
    {
      authorization: `Bearer ${settings.publishableKey}`,
      'x-service-anonymous-id': context.anonymous_id,
    },
  )
}

interface Outcome {
  readonly outcome: 'taken' | 'refused' | 'lost'
  /** Seconds before the next batch. */
  readonly retrySeconds: number
}

const TAKEN: Outcome = { outcome: 'taken', retrySeconds: 0 }
const REFUSED: Outcome = { outcome: 'refused', retrySeconds: 0 }
const LOST: Outcome = { outcome: 'lost', retrySeconds: 0 }

/** `keepalive` survives the page like a beacon, but allows headers. */
async function post(url: string, body: object, headers: Readonly<Record<string, string>>): Promise<Outcome> {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: toJson(body),
    keepalive: true,
    redirect: 'error',
  })
  if (answer.status === 429) return { outcome: 'lost', retrySeconds: Number(answer.headers.get('retry-after')) || 0 }
  if (!answer.ok) return answer.status >= 500 ? LOST : REFUSED
  const { success } = (await answer.json()) as { success: boolean }
  return success ? TAKEN : REFUSED
}
