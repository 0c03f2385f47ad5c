import { hash, randomBytes } from 'node:crypto'
import { CheckIntegrityConstraintViolationError } from 'slonik'
import { Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'

/** Fields that all events of a batch share; stored once per batch. */
export interface EventOrigin {
  readonly accountId: string
  readonly shopId: string | null
  readonly anonymousId: string | null
  readonly sessionId: string | null
  readonly customerId: string | null
  readonly customerEmail: string | null
  /** Whether a shop's proxy or platform has authenticated the customer. */
  readonly customerSigned: boolean
  /** Product of the page that sent the events. */
  readonly productId: string | null
  readonly variantId: string | null
  readonly context: Readonly<Record<string, unknown>>
}

export interface NewEvent {
  readonly name: string
  /** Chosen by the sender. A second event of the account with the same ID is not stored. */
  readonly insertId: string
  readonly happenedAt: Date
  /** A JSON object. */
  readonly properties: string
  /** Product of this event, when it differs from the product of the batch. */
  readonly productId: string | null
  readonly generationId: string | null
}

export interface EventBatch {
  readonly origin: EventOrigin
  readonly events: readonly NewEvent[]
  /** Determines the day under which the events are stored. Default: now, by the database's clock. */
  readonly receivedAt?: Date
}

/** Browser clocks can be wrong by any amount; a time outside the possible range is clamped to it. */
const MAX_HOURS_AHEAD = 24
const MAX_HOURS_BEHIND = 90 * 24
/** Earliest time that the database accepts. */
const EARLIEST_MS = Date.UTC(1970, 0)
const LATEST_MS = Date.UTC(9999, 0)

const Stored = rowType(Type.Object({ stored: Type.Integer() }))
const Made = rowType(Type.Object({ made: Type.Integer() }))
const Today = rowType(Type.Object({ today: Timestamp }))
const Dropped = rowType(Type.Object({ dropped: Type.Boolean() }))

export type Events = ReturnType<typeof createEvents>

/** Store of shopper events. With `forward`, every new event is also added to the outbox for the analytics provider. */
export function createEvents(database: Database, { forward = false }: { forward?: boolean } = {}) {
  const makePartitions = (first: Date, days: number): Promise<number> =>
    database.oneFirst(sql.type(Made)`
      select make_event_partitions(${dayOf(first)}::date, ${dayOf(first)}::date + ${days}::integer) as made`)

  const today = (): Promise<Date> => database.oneFirst(sql.type(Today)`select now() as today`)

  return {
    /** By the database's clock: a host with a wrong clock must not drop partitions that other hosts still use. */
    today,

    /** Inserts the events that are not stored yet. Returns the count. */
    insert: async (batch: EventBatch): Promise<number> => {
      const insert = () => database.oneFirst(insertBatch(batch, forward))
      return insert().catch(async (error) => {
        // The day has no partition: the housekeeping that creates partitions ahead has not run for days.
        if (!(error instanceof CheckIntegrityConstraintViolationError)) throw error
        await makePartitions(batch.receivedAt ?? (await today()), 0)
        return insert()
      })
    },

    /** Creates the missing partitions of a day and of the `days` days after it. Returns the count. */
    makePartitions,

    /**
     * Drops the oldest partition if its day is before the given one. Returns false if there is none, or if a reader
     * blocks the drop.
     */
    dropPartition: (before: Date): Promise<boolean> =>
      database.oneFirst(sql.type(Dropped)`select drop_event_partition(${dayOf(before)}) as dropped`),

    /** Deletes the keys of events of days before the given one. Returns the count. */
    deleteKeys: async (before: Date, limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from event_keys where key in (
          select key from event_keys where received_on < ${dayOf(before)} limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}

function insertBatch({ origin, events, receivedAt }: EventBatch, forward: boolean) {
  // One event per key, in the same order in every batch: batches that share events wait for each other instead of
  // deadlocking. The first event with a key wins.
  const byKey = new Map(events.toReversed().map((event) => [keyOf(origin.accountId, event.insertId), event]))
  const keys = [...byKey.keys()].sort()
  const sorted = keys.flatMap((key) => byKey.get(key) ?? [])
  const column = (type: string, of: (event: NewEvent) => string | null) => sql.array(sorted.map(of), type)
  return sql.type(Stored)`
    with clock as (
      select received_at, (received_at at time zone 'UTC')::date as received_on
      from (select coalesce(${receivedAt?.toISOString() ?? null}, now_ms())) as given (received_at)
    ), sent as (
      select * from unnest(
        ${arrayText(keys)}::uuid[],
        ${column('text', ({ name }) => name)},
        ${column('text', ({ insertId }) => insertId)},
        ${column('text', ({ productId }) => productId)},
        ${column('text', ({ generationId }) => generationId)},
        ${column('jsonb', ({ properties }) => properties)},
        ${arrayText(sorted.map(({ happenedAt }) => readableTime(happenedAt).toISOString()))}::timestamptz[]
      ) as event (key, name, insert_id, product_id, generation_id, properties, happened_at)
    ), fresh as (
      insert into event_keys (key, received_on)
      select key, received_on from clock, sent
      on conflict do nothing returning key
    ), batch as (
      insert into event_batches (received_on, id, account_id, shop_id, anonymous_id, session_id, customer_id, customer_email,
        customer_signed, product_id, variant_id, context, received_at)
      select received_on, ${newBatchId()}::bigint, ${origin.accountId}, ${origin.shopId}, ${origin.anonymousId},
        ${origin.sessionId}, ${origin.customerId}, ${origin.customerEmail}, ${origin.customerSigned}, ${origin.productId},
        ${origin.variantId}, ${JSON.stringify(origin.context)}::jsonb, received_at
      from clock where exists (select from fresh)
      returning id
    ), event as (
      select received_on, batch.id as batch_id, name, insert_id, nullif(product_id, ${origin.productId}) as product_id,
        generation_id, properties,
        greatest(least(happened_at, received_at + make_interval(hours => ${MAX_HOURS_AHEAD})),
          received_at - make_interval(hours => ${MAX_HOURS_BEHIND})) as happened_at,
        key, received_at
      from clock cross join batch cross join fresh join sent using (key)
    ), ${forward ? intoOutbox : sql.fragment``}
    stored as (insert into events (${columns}) select ${columns} from event)
    select count(*)::integer as stored from fresh`
}

/** An array of texts without special characters: the driver would look for them in each. */
function arrayText(values: readonly string[]): string {
  return `{${values.join(',')}}`
}

const columns = sql.fragment`
  received_on, batch_id, name, insert_id, product_id, generation_id, properties, happened_at`

const intoOutbox = sql.fragment`forwarded as (
      insert into event_outbox (${columns}, key, received_at) select ${columns}, key, received_at from event),`

/** 63 random bits: no coordination between processes. */
function newBatchId(): string {
  return String(randomBytes(8).readBigInt64BE() & 0x7fff_ffff_ffff_ffffn)
}

/** UUID version 8 (RFC 9562) from the first bits of the SHA-256 of both IDs. */
function keyOf(accountId: string, insertId: string): string {
  const digest = hash('sha256', `${accountId}\n${insertId}`)
  const variant = '89ab'[Number.parseInt(digest[16], 16) % 4]
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(13, 16)}-${variant}${digest.slice(17, 20)}-${digest.slice(20, 32)}`
}

function readableTime(time: Date): Date {
  return new Date(Math.min(Math.max(time.getTime(), EARLIEST_MS), LATEST_MS))
}

function dayOf(time: Date): string {
  return time.toISOString().slice(0, 10)
}
