import { v7 as uuidv7 } from 'uuid'
import { addLiveSecret, LiveSecrets, removeLiveSecret, sealSecret } from '../secrets/live-secrets.store.ts'
import { DrapeError, refusedValue } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'
import type { Customer } from '../shared/retention/customer.ts'
import { insertDeliveries } from './webhook-outbox.store.ts'

/** Event types that an endpoint can subscribe to. */
export const WEBHOOK_EVENTS = [
  'generation.completed',
  'generation.failed',
  'credits.low',
  'customer.erased',
  'erasure.confirmed',
  'review.decided',
] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

const EndpointRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  url: Type.String(),
  eventTypes: Type.Array(Type.Enum([...WEBHOOK_EVENTS])),
  /** Newest first, sealed. */
  secrets: LiveSecrets,
  isActive: Type.Boolean(),
  disabledReason: Nullable(Type.String()),
  failingSince: Nullable(Timestamp),
  createdAt: Timestamp,
})
export type WebhookEndpoint = Static<typeof EndpointRow>

const EditedRow = Type.Object({ ...EndpointRow.properties, edition: Type.String() })
/** An endpoint and the edition of its settings. */
export type EditedEndpoint = Static<typeof EditedRow>

const endpointEdition = sql.fragment`md5(row(url, event_types, is_active)::text)`

export const DELIVERY_STATES = ['waiting', 'delivered', 'failed'] as const

const DeliveryRow = Type.Object({
  id: Type.Integer(),
  eventId: Type.String(),
  type: Type.String(),
  data: Json,
  status: Type.Enum([...DELIVERY_STATES]),
  attempts: Type.Integer(),
  nextAttemptAt: Nullable(Timestamp),
  lastAttemptAt: Nullable(Timestamp),
  lastStatus: Nullable(Type.Integer()),
  lastError: Nullable(Type.String()),
  endedAt: Nullable(Timestamp),
  createdAt: Timestamp,
})
export type WebhookDelivery = Static<typeof DeliveryRow>

const ListedRow = Type.Object({
  id: Type.String(),
  url: Type.String(),
  isActive: Type.Boolean(),
  eventTypes: Type.Array(Type.String()),
  failingSince: Nullable(Timestamp),
  accountId: Type.String(),
  accountName: Type.String(),
  createdAt: Timestamp,
})
/** An endpoint without its secrets. */
export type ListedEndpoint = Static<typeof ListedRow>

const DeliveryId = rowType(Type.Object({ id: Type.Integer() }))

const columns = sql.fragment`
  id, account_id as "accountId", url, event_types as "eventTypes", secrets, is_active as "isActive",
  disabled_reason as "disabledReason", failing_since as "failingSince", created_at as "createdAt"`

/** Clears failures, so that the next delivery is made immediately. */
const clearFailures = sql.fragment`failing_since = null, failures = 0, paused_until = null`

/** Settings of an endpoint. */
export interface EndpointSettings {
  readonly url?: string
  readonly eventTypes?: readonly WebhookEvent[]
  readonly isActive?: boolean
}

export type Webhooks = ReturnType<typeof createWebhooks>

/** Store of webhook endpoints, their subscriptions and their deliveries. */
export function createWebhooks(database: Database) {
  const live = (id: string) => ({ table: 'webhook_endpoints', where: sql.fragment`id = ${id}` }) as const
  const get = async (id: string): Promise<WebhookEndpoint> => {
    const found = await database.maybeOne(sql.type(rowType(EndpointRow))`
      select ${columns} from webhook_endpoints where id = ${id}`)
    if (found === null) throw unknownEndpoint(id)
    return found
  }

  return {
    /** Throws `VALIDATION_FAILED` when the endpoint does not exist. */
    get,

    /** The endpoint and its edition, which changes with every `update`. */
    getEdition: async (id: string): Promise<EditedEndpoint> => {
      const found = await database.maybeOne(sql.type(rowType(EditedRow))`
        select ${columns}, ${endpointEdition} as edition from webhook_endpoints where id = ${id}`)
      if (found === null) throw unknownEndpoint(id)
      return found
    },

    /** Every endpoint, or the endpoints of an account, oldest first. */
    list: (accountId: string | null): Promise<readonly WebhookEndpoint[]> =>
      database.any(sql.type(rowType(EndpointRow))`
        select ${columns} from webhook_endpoints
        where ${accountId}::text is null or account_id = ${accountId} order by id`),

    listing: createListing(database, {
      row: ListedRow,
      rows: sql.fragment`
        select webhook_endpoints.id, url, webhook_endpoints.is_active as "isActive", event_types as "eventTypes",
          failing_since as "failingSince", account_id as "accountId", accounts.name as "accountName",
          webhook_endpoints.created_at as "createdAt"
        from webhook_endpoints join accounts on accounts.id = account_id`,
      texts: ['id', 'url', 'accountName'],
    }),

    /** Creates an endpoint. Throws `ACCOUNT_NOT_FOUND`. */
    insert: async ({ accountId, url, eventTypes, secret }: NewEndpoint): Promise<WebhookEndpoint> => {
      const id = `endpoint_${uuidv7()}`
      const secrets = [await sealSecret(database, secret, { table: 'webhook_endpoints', id })]
      const inserted = await database.maybeOne(sql.type(rowType(EndpointRow))`
        insert into webhook_endpoints (id, account_id, url, event_types, secrets)
        select ${id}, accounts.id, ${url}, ${sql.jsonb([...eventTypes])}, ${sql.jsonb(secrets)}
        from accounts where id = ${accountId}
        returning ${columns}`)
      if (inserted === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
      return inserted
    },

    /**
     * Updates the given settings. An endpoint that becomes active immediately receives its waiting deliveries. Throws
     * `VALIDATION_FAILED` when the endpoint does not exist.
     */
    update: async (id: string, settings: EndpointSettings): Promise<WebhookEndpoint> => {
      const updated = await database.maybeOne(sql.type(rowType(EndpointRow))`
        update webhook_endpoints set ${assignments(settings)} where id = ${id} returning ${columns}`)
      if (updated === null) throw unknownEndpoint(id)
      return updated
    },

    /** Updates the given settings if the endpoint still has this edition. Returns null if the endpoint has changed. */
    updateEdition: (id: string, settings: EndpointSettings, edition: string): Promise<WebhookEndpoint | null> =>
      database.maybeOne(sql.type(rowType(EndpointRow))`
        update webhook_endpoints set ${assignments(settings)}
        where id = ${id} and ${endpointEdition} = ${edition} returning ${columns}`),

    /** Adds a second active secret, for rotation. Throws `VALIDATION_FAILED` when 2 are active already. */
    addSecret: async (id: string, secret: string): Promise<WebhookEndpoint> => {
      const added = await addLiveSecret(database, live(id), secret)
      if (added !== 'refused') return get(id)
      throw refusedValue('secret', 'The secret is already active, or 2 others are. Remove one first.')
    },

    /** Removes one of two secrets, by default the older one. Throws `VALIDATION_FAILED` for the only secret. */
    removeSecret: async (id: string, secret: string | null): Promise<WebhookEndpoint> => {
      const removed = await removeLiveSecret(database, live(id), { secret, min: 1 })
      if (removed !== 'refused') return get(id)
      throw refusedValue(
        'secret',
        'The secret does not exist or is the only one of the endpoint. Add another one first.',
      )
    },

    /** Deletes an endpoint and its deliveries. Throws `VALIDATION_FAILED` when the endpoint does not exist. */
    delete: async (id: string): Promise<void> => {
      const { rowCount } = await database.query(sql.unsafe`
        with forgotten as (delete from webhook_deliveries where endpoint_id = ${id})
        delete from webhook_endpoints where id = ${id}`)
      if (rowCount === 0) throw unknownEndpoint(id)
    },

    /**
     * Queues a `webhook.test` event for this endpoint. Throws `VALIDATION_FAILED` when the endpoint does not exist or
     * is not active.
     */
    insertTest: async (id: string): Promise<number> => {
      const { id: deliveryId } =
        (await database.maybeOne(sql.type(DeliveryId)`
          insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
          select id, 'evt_' || gen_random_uuid(), 'webhook.test', jsonb_build_object('endpointId', id), now_ms()
          from webhook_endpoints where id = ${id} and is_active
          returning id`)) ?? {}
      if (deliveryId !== undefined) return deliveryId
      await get(id)
      throw refusedValue('endpoint', 'The endpoint is not active.')
    },

    ...createDeliveries(database),
  }
}

/** Deliveries to endpoints. */
function createDeliveries(database: Database) {
  return {
    /** Deliveries of an endpoint. */
    deliveriesOf: (endpointId: string) => listDeliveries(database, endpointId),

    /** The newest deliveries of an endpoint, or the newest failed ones. */
    listDeliveries: ({ endpointId, failed, limit }: { endpointId: string; failed: boolean; limit: number }) =>
      listDeliveries(database, endpointId).list({ only: failed ? { status: 'failed' } : {} }, { limit }),

    /**
     * Queues a delivery again with all its attempts, whatever its outcome. Throws `VALIDATION_FAILED` when the delivery
     * does not exist, its data has been deleted, its endpoint is not active, or it belongs to another endpoint than the
     * given one.
     */
    retry: async (id: number, endpointId: string | null = null): Promise<void> => {
      const { rowCount } = await database.query(sql.unsafe`
        with endpoint as (
          update webhook_endpoints set ${clearFailures}
          where is_active and id = (select endpoint_id from webhook_deliveries where id = ${id})
            and (${endpointId}::text is null or id = ${endpointId})
          returning id
        )
        update webhook_deliveries
        set status = 'waiting', attempts = 0, next_attempt_at = now(), ended_at = null
        from endpoint where webhook_deliveries.id = ${id} and endpoint_id = endpoint.id and data is not null`)
      if (rowCount > 0) return
      const message = `The delivery ${id} does not exist, cannot be retried, or its endpoint is not active.`
      throw refusedValue('delivery', message)
    },

    /** Queues the webhook `customer.erased`: all stored data of a customer has been erased. */
    insertErased: async ({ accountId, externalUserId }: Customer, erasureId: string): Promise<void> => {
      await database.query(
        sql.unsafe`${insertDeliveries(sql.fragment`
        select ${accountId}::text as account_id, 'evt_' || substr(${erasureId}::text, 5) as id, 'customer.erased' as type, now_ms() as happened_at,
          jsonb_build_object('externalUserId', ${externalUserId}::text, 'erasureId', ${erasureId}::text) as data`)}`,
      )
    },
  }
}

function listDeliveries(database: Database, endpointId: string) {
  return createListing(database, {
    row: DeliveryRow,
    rows: sql.fragment`
      select id, event_id as "eventId", type, data, status, attempts,
        case when status = 'waiting' then next_attempt_at end as "nextAttemptAt", last_attempt_at as "lastAttemptAt",
        last_status as "lastStatus", last_error as "lastError", ended_at as "endedAt", created_at as "createdAt"
      from webhook_deliveries where endpoint_id = ${endpointId}`,
    texts: ['eventId', 'type', 'lastError'],
  })
}

export interface NewEndpoint {
  readonly accountId: string
  readonly url: string
  readonly eventTypes: readonly WebhookEvent[]
  readonly secret: string
}

type SqlFragment = ReturnType<typeof sql.fragment>

/** Throws `VALIDATION_FAILED` when no setting is given. */
function assignments({ url, eventTypes, isActive }: EndpointSettings): SqlFragment {
  const changes = [
    url !== undefined && sql.fragment`url = ${url}`,
    eventTypes !== undefined && sql.fragment`event_types = ${sql.jsonb([...eventTypes])}`,
    isActive !== undefined && sql.fragment`is_active = ${isActive}, disabled_at = null, disabled_reason = null`,
  ].filter((change) => change !== false)
  if (changes.length === 0) throw refusedValue('endpoint', 'The request changes nothing. Name at least one setting.')
  return sql.fragment`${sql.join([...changes, clearFailures], sql.fragment`, `)}`
}

function unknownEndpoint(id: string): DrapeError {
  return refusedValue('endpoint', `The endpoint ${id} does not exist.`)
}
