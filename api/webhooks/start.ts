import type { Connections } from '../config.ts'
import type { Photos } from '../photos/start.ts'
import { watchAge } from '../shared/telemetry/measuring.ts'
import { createWebhookSender } from './attempt.ts'
import { startWebhookDelivering } from './deliver.ts'
import { createListenerWatch } from './listener-watch.ts'
import { createWebhookDeliveries } from './webhook-deliveries.store.ts'
import { createWebhookEvents } from './webhook-events.store.ts'
import { createWebhookListeners } from './webhook-listeners.store.ts'

/** Creates the stores of webhooks and delivers them in the background. */
export function startWebhooks(
  { config, database, backgroundDatabase, lifecycle, log, metrics }: Connections,
  { lookup }: Pick<Photos, 'lookup'>,
) {
  const deliveries = createWebhookDeliveries(backgroundDatabase)
  watchAge(
    {
      name: 'drape_webhook_lag_seconds',
      help: 'Seconds since the oldest pending webhook delivery was due; 0 if none is due',
    },
    deliveries.measureLag,
    { metrics, log, lifecycle },
  )
  const send = createWebhookSender({
    lookup,
    allowCidrs: config.FETCH_ALLOW_CIDRS,
    allowPorts: config.FETCH_ALLOW_PORTS,
    openSecrets: deliveries.openSecrets,
  })
  const delivering = startWebhookDelivering({ deliveries, send, log, metrics })
  lifecycle.onStop('webhooks', () => delivering.stop())
  const listeners = createWebhookListeners(database)
  return {
    listeners,
    listenerWatch: createListenerWatch({ listeners, log }),
    webhookEvents: createWebhookEvents(database),
  }
}
