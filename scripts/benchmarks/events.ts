import { randomUUID } from 'node:crypto'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import type { Benchmark } from './benchmark.ts'
import { type Load, measureThroughput, SECONDS } from './load.ts'
import { alternate } from './rounds.ts'
import { EVENT_CONTEXT, EVENTS_AT_ONCE, sampleEvent } from './sample-events.ts'

export const sendEvents: Benchmark = {
  id: 'P14',
  what: `POST /events, ${EVENTS_AT_ONCE} a batch, against a bare multi-row insert, conflicts ignored, without any server`,
  unit: 'events/s',
  better: 'higher',
  goal: 0.8,
  measure: async ({ database, accountId, servers }) => {
    const key = await createAccounts(database).insertKey(accountId, 'publishable')
    const { api, anchor } = await servers()
    const load: Load = {
      url: api,
      method: 'POST',
      path: '/storefront/v1/events',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${key}`,
        'x-service-anonymous-id': EVENT_CONTEXT.anonymous_id,
      },
      body: createBatch,
    }
    return alternate({
      ours: async () => EVENTS_AT_ONCE * (await measureThroughput(load)),
      anchor: async () => Number(await (await fetch(`${anchor}/bare-events?seconds=${SECONDS}`)).text()),
      better: 'higher',
    })
  },
}

/** Batches have no event in common. */
function createBatch(): string {
  const events = Array.from({ length: EVENTS_AT_ONCE }, () => ({ ...sampleEvent(), $insert_id: randomUUID() }))
  return JSON.stringify({ events, context: EVENT_CONTEXT })
}
