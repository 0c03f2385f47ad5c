import { v7 as uuidv7 } from 'uuid'
import { type Database, Json, rowType, sql, Timestamp } from '../shared/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'
import type { Customer } from '../shared/stores/retention.ts'
import { insertDeliveries } from '../shared/stores/webhook-outbox.ts'

/** What an endpoint can ask to be told of. */
export const WEBHOOK_EVENTS = ['generation.completed', 'generation.failed', 'credits.low', 'customer.erased'] as const
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number]

const EndpointRow = Type.Object({
  id: Type.String(),
  accountId: Type.String(),
  url: Type.String(),
  eventTypes: Type.Array(Type.Enum([...WEBHOOK_EVENTS])),
  /** Newest first. */
  secrets: Type.Array(Type.Object({ secret: Type.String(), createdAt: Type.String() })),
  isActive: Type.Boolean(),
  disabledReason: Nullable(Type.String()),
  failingSince: Nullable(Timestamp),
  createdAt: Timestamp,
})
export type WebhookEndpoint = Static<typeof EndpointRow>

const EditedRow = Type.Object({ ...EndpointRow.properties, edition: Type.String() })
/** An endpoint with what stands for its settings as they are. */
export type EditedEndpoint = Static<typeof EditedRow>

const endpointEdition = sql.fragment`md5(row(url, event_types, is_active)::text)`

const DeliveryRow = Type.Object({
  id: Type.Integer(),
  eventId: Type.String(),
  type: Type.String(),
  data: Json,
  status: Type.Enum(['waiting', 'delivered', 'failed']),
  attempts: Type.Integer(),
  nextAttemptAt: Nullable(Timestamp),
  lastAttemptAt: Nullable(Timestamp),
  lastStatus: Nullable(Type.Integer()),
  lastError: Nullable(Type.String()),
  endedAt: Nullable(Timestamp),
  createdAt: Timestamp,
})
export type WebhookDelivery = Static<typeof DeliveryRow>

const DeliveryId = rowType(Type.Object({ id: Type.Integer() }))

const columns = sql.fragment`
  id, account_id as "accountId", url, event_types as "eventTypes", secrets, is_active as "isActive",
  disabled_reason as "disabledReason", failing_since as "failingSince", created_at as "createdAt"`

/** Where nothing stands in the way of the next delivery. */
const rested = sql.fragment`failing_since = null, failures = 0, paused_until = null`

/** What an operator sets. */
export interface EndpointSettings {
  readonly url?: string
  readonly eventTypes?: readonly WebhookEvent[]
  readonly isActive?: boolean
}

export type Webhooks = ReturnType<typeof createWebhooks>

/** Who wants to be told of what, and what they were told. */
export function createWebhooks(database: Database) {
  const change = async (
    id: string,
    changes: SqlFragment,
    { when = sql.fragment`true`, otherwise = '' }: { when?: SqlFragment; otherwise?: string } = {},
  ): Promise<WebhookEndpoint> => {
    const changed = await database.maybeOne(sql.type(rowType(EndpointRow))`
      update webhook_endpoints set ${changes} where id = ${id} and ${when} returning ${columns}`)
    if (changed !== null) return changed
    await get(id)
    throw invalid('secret', otherwise)
  }
  const get = async (id: string): Promise<WebhookEndpoint> => {
    const found = await database.maybeOne(sql.type(rowType(EndpointRow))`
      select ${columns} from webhook_endpoints where id = ${id}`)
    if (found === null) throw unknownEndpoint(id)
    return found
  }

  return {
    /** Throws `VALIDATION_FAILED` when there is no such endpoint. */
    get,

    /** The same with its edition, another one for whatever `update` can change. */
    getEdition: async (id: string): Promise<EditedEndpoint> => {
      const found = await database.maybeOne(sql.type(rowType(EditedRow))`
        select ${columns}, ${endpointEdition} as edition from webhook_endpoints where id = ${id}`)
      if (found === null) throw unknownEndpoint(id)
      return found
    },

    /** Every endpoint, or those of an account, in the order in which they came. */
    list: (accountId: string | null): Promise<readonly WebhookEndpoint[]> =>
      database.any(sql.type(rowType(EndpointRow))`
        select ${columns} from webhook_endpoints
        where ${accountId}::text is null or account_id = ${accountId} order by id`),

    /** A new endpoint. Throws `ACCOUNT_NOT_FOUND`. */
    insert: async ({ accountId, url, eventTypes, secret }: NewEndpoint): Promise<WebhookEndpoint> => {
      const inserted = await database.maybeOne(sql.type(rowType(EndpointRow))`
        insert into webhook_endpoints (id, account_id, url, event_types, secrets)
        select ${`endpoint_${uuidv7()}`}, accounts.id, ${url}, ${sql.jsonb([...eventTypes])}, ${sql.jsonb([newSecret(secret)])}
        from accounts where id = ${accountId}
        returning ${columns}`)
      if (inserted === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `There is no account ${accountId}.`)
      return inserted
    },

    /**
     * Changes what is given. One that is made active is told at once of what waits. Throws `VALIDATION_FAILED` when there is no such
     * endpoint.
     */
    update: (id: string, settings: EndpointSettings): Promise<WebhookEndpoint> => change(id, assignments(settings)),

    /** Changes what is given, unless somebody has changed the endpoint since this edition of it: then null. */
    updateEdition: (id: string, settings: EndpointSettings, edition: string): Promise<WebhookEndpoint | null> =>
      database.maybeOne(sql.type(rowType(EndpointRow))`
        update webhook_endpoints set ${assignments(settings)}
        where id = ${id} and ${endpointEdition} = ${edition} returning ${columns}`),

    /** Makes a secret live beside the one that it is to replace. Throws `VALIDATION_FAILED` when two are live already. */
    addSecret: (id: string, secret: string): Promise<WebhookEndpoint> =>
      change(id, sql.fragment`secrets = ${sql.jsonb([newSecret(secret)])} || secrets`, {
        when: sql.fragment`jsonb_array_length(secrets) < 2 and not secrets @> ${sql.jsonb([{ secret }])}`,
        otherwise: 'The secret is live already, or two others are: remove one first.',
      }),

    /** Ends one of two secrets, the older one unless it is named. Throws `VALIDATION_FAILED` when that would leave none. */
    removeSecret: (id: string, secret: string | null): Promise<WebhookEndpoint> =>
      change(
        id,
        secret === null
          ? sql.fragment`secrets = secrets - 1`
          : sql.fragment`secrets = jsonb_path_query_array(secrets, ${OTHERS}::jsonpath, ${sql.jsonb({ secret })})`,
        {
          when: sql.fragment`
            jsonb_array_length(secrets) = 2 and ${secret === null ? sql.fragment`true` : sql.fragment`secrets @> ${sql.jsonb([{ secret }])}`}`,
          otherwise: 'The endpoint has no such secret, or no other: add one first.',
        },
      ),

    /** Ends an endpoint, with all that it was to be told. Throws `VALIDATION_FAILED` when there is no such endpoint. */
    delete: async (id: string): Promise<void> => {
      const { rowCount } = await database.query(sql.unsafe`
        with forgotten as (delete from webhook_deliveries where endpoint_id = ${id})
        delete from webhook_endpoints where id = ${id}`)
      if (rowCount === 0) throw unknownEndpoint(id)
    },

    /** The newest deliveries of an endpoint, or those of them that were given up, newest first. */
    listDeliveries: ({ endpointId, failed, limit }: { endpointId: string; failed: boolean; limit: number }) =>
      database.any(sql.type(rowType(DeliveryRow))`
        select id, event_id as "eventId", type, data, status, attempts,
          case when status = 'waiting' then next_attempt_at end as "nextAttemptAt", last_attempt_at as "lastAttemptAt",
          last_status as "lastStatus", last_error as "lastError", ended_at as "endedAt", created_at as "createdAt"
        from webhook_deliveries
        where endpoint_id = ${endpointId} and ${failed ? sql.fragment`status = 'failed'` : sql.fragment`true`}
        order by id desc limit ${limit}`),

    /**
     * Puts a delivery on its way again, whatever came of it, with all of its attempts. Throws `VALIDATION_FAILED` when it is not
     * there (any more), no longer holds what to tell, or its endpoint is not active, or is not the one that is named.
     */
    retry: async (id: number, endpointId: string | null = null): Promise<void> => {
      const { rowCount } = await database.query(sql.unsafe`
        with endpoint as (
          update webhook_endpoints set ${rested}
          where is_active and id = (select endpoint_id from webhook_deliveries where id = ${id})
            and (${endpointId}::text is null or id = ${endpointId})
          returning id
        )
        update webhook_deliveries
        set status = 'waiting', attempts = 0, next_attempt_at = now(), ended_at = null
        from endpoint where webhook_deliveries.id = ${id} and endpoint_id = endpoint.id and data is not null`)
      if (rowCount > 0) return
      const message = `There is no delivery ${id} that could be made again, or its endpoint is not active.`
      throw invalid('delivery', message)
    },

    /** Puts a `webhook.test` on its way to this endpoint. Throws `VALIDATION_FAILED` when it is unknown or not active. */
    insertTest: async (id: string): Promise<number> => {
      const { id: deliveryId } =
        (await database.maybeOne(sql.type(DeliveryId)`
          insert into webhook_deliveries (endpoint_id, event_id, type, data, happened_at)
          select id, 'evt_' || gen_random_uuid(), 'webhook.test', jsonb_build_object('endpointId', id), now_ms()
          from webhook_endpoints where id = ${id} and is_active
          returning id`)) ?? {}
      if (deliveryId !== undefined) return deliveryId
      await get(id)
      throw invalid('endpoint', 'The endpoint is not active.')
    },

    /** Everything that was stored of a customer is gone, of which those are told who want to know. */
    insertErased: async ({ accountId, externalUserId }: Customer): Promise<void> => {
      await database.query(
        sql.unsafe`${insertDeliveries(sql.fragment`
        select ${accountId}::text as account_id, 'evt_' || gen_random_uuid() as id, 'customer.erased' as type,
          now_ms() as happened_at, jsonb_build_object('externalUserId', ${externalUserId}::text) as data`)}`,
      )
    },
  }
}

export interface NewEndpoint {
  readonly accountId: string
  readonly url: string
  readonly eventTypes: readonly WebhookEvent[]
  readonly secret: string
}

const OTHERS = '$[*] ? (@.secret != $secret)'

type SqlFragment = ReturnType<typeof sql.fragment>

function newSecret(secret: string) {
  return { secret, createdAt: new Date().toISOString() }
}

/** Throws `VALIDATION_FAILED` when nothing is given. */
function assignments({ url, eventTypes, isActive }: EndpointSettings): SqlFragment {
  const changes = [
    url !== undefined && sql.fragment`url = ${url}`,
    eventTypes !== undefined && sql.fragment`event_types = ${sql.jsonb([...eventTypes])}`,
    isActive !== undefined && sql.fragment`is_active = ${isActive}, disabled_at = null, disabled_reason = null`,
  ].filter((change) => change !== false)
  if (changes.length === 0) throw invalid('endpoint', 'Nothing is to be changed.')
  return sql.fragment`${sql.join([...changes, rested], sql.fragment`, `)}`
}

function unknownEndpoint(id: string): DrapeError {
  return invalid('endpoint', `There is no endpoint ${id}.`)
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', message, { details: [{ path, message }] })
}
