import { hash, randomBytes } from 'node:crypto'
import { CheckIntegrityConstraintViolationError } from 'slonik'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { Type } from '../shared/schema.ts'

/** What all events of a batch have in common; stored once for all of them. */
export interface EventOrigin {
  readonly accountId: string
  readonly shopId: string | null
  readonly anonymousId: string | null
  readonly sessionId: string | null
  readonly customerId: string | null
  readonly customerEmail: string | null
  /** Whether a shop's proxy or platform vouches for the customer. */
  readonly customerSigned: boolean
  /** Of the page that the events come from. */
  readonly productId: string | null
  readonly variantId: string | null
  readonly context: Readonly<Record<string, unknown>>
}

export interface NewEvent {
  readonly name: string
  /** The sender's own; an event of the same account that comes again under it is not stored again. */
  readonly insertId: string
  readonly happenedAt: Date
  /** A JSON object. */
  readonly properties: string
  /** What this event is about, when it is not what all of the batch are. */
  readonly productId: string | null
  readonly generationId: string | null
}

export interface EventBatch {
  readonly origin: EventOrigin
  readonly events: readonly NewEvent[]
  /** Decides the day that the events are kept under; now, by the database's clock, when it is not given. */
  readonly receivedAt?: Date
}

/** Clocks of browsers are wrong by any amount; what cannot be is brought to the nearest time that can. */
const MAX_HOURS_AHEAD = 24
const MAX_HOURS_BEHIND = 90 * 24
/** What the database can read as a time. */
const EARLIEST_MS = Date.UTC(1970, 0)
const LATEST_MS = Date.UTC(9999, 0)

const Stored = rowType(Type.Object({ stored: Type.Integer() }))
const Made = rowType(Type.Object({ made: Type.Integer() }))
const Today = rowType(Type.Object({ today: Timestamp }))
const Dropped = rowType(Type.Object({ dropped: Type.Boolean() }))

export type Events = ReturnType<typeof createEvents>

/** What shoppers did. With `forward`, every new event is also put on its way to the provider of analytics. */
export function createEvents(database: Database, { forward = false }: { forward?: boolean } = {}) {
  const makePartitions = (first: Date, days: number): Promise<number> =>
    database.oneFirst(sql.type(Made)`
      select make_event_partitions(${dayOf(first)}::date, ${dayOf(first)}::date + ${days}::integer) as made`)

  const today = (): Promise<Date> => database.oneFirst(sql.type(Today)`select now() as today`)

  return {
    /** By the database's clock: one host whose own is wrong must not drop what others have stored. */
    today,

    /** Stores those events of a batch that were not stored before. Returns how many. */
    insert: async (batch: EventBatch): Promise<number> => {
      const insert = () => database.oneFirst(insertBatch(batch, forward))
      return insert().catch(async (error) => {
        // The day has no partition: housekeeping, which makes them ahead, has not run for days.
        if (!(error instanceof CheckIntegrityConstraintViolationError)) throw error
        await makePartitions(batch.receivedAt ?? (await today()), 0)
        return insert()
      })
    },

    /** Makes the missing partitions of a day and of `days` days after it. Returns how many it made. */
    makePartitions,

    /** Drops the oldest partition if its day is before the one given. False when there is none, or a reader holds it for long. */
    dropPartition: (before: Date): Promise<boolean> =>
      database.oneFirst(sql.type(Dropped)`select drop_event_partition(${dayOf(before)}) as dropped`),

    /** Forgets keys of events of days before the one given. Returns how many. */
    deleteKeys: async (before: Date, limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from event_keys where key in (
          select key from event_keys where received_on < ${dayOf(before)} limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}

function insertBatch({ origin, events, receivedAt }: EventBatch, forward: boolean) {
  // One of each key, and all batches in the same order: two that share events wait for each other instead of locking up.
  // Of those that have the same key the first one counts.
  const byKey = new Map(events.toReversed().map((event) => [keyOf(origin.accountId, event.insertId), event]))
  const keys = [...byKey.keys()].sort()
  const sorted = keys.flatMap((key) => byKey.get(key) ?? [])
  const column = (type: string, of: (event: NewEvent) => string | number | null) => sql.array(sorted.map(of), type)
  return sql.type(Stored)`
    with clock as (
      select received_at, (received_at at time zone 'UTC')::date as received_on
      from (select coalesce(${receivedAt?.toISOString() ?? null}, now_ms())) as given (received_at)
    ), fresh as (
      insert into event_keys (key, received_on)
      select key, received_on from clock, unnest(${sql.array(keys, 'uuid')}) as key
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
      from clock cross join batch cross join fresh join unnest(
        ${sql.array(keys, 'uuid')},
        ${column('text', ({ name }) => name)},
        ${column('text', ({ insertId }) => insertId)},
        ${column('text', ({ productId }) => productId)},
        ${column('text', ({ generationId }) => generationId)},
        ${column('jsonb', ({ properties }) => properties)},
        ${column('timestamptz', ({ happenedAt }) => readableTime(happenedAt).toISOString())}
      ) as sent (key, name, insert_id, product_id, generation_id, properties, happened_at) using (key)
    ), ${forward ? intoOutbox : sql.fragment``}
    stored as (insert into events (${columns}) select ${columns} from event)
    select count(*)::integer as stored from fresh`
}

const columns = sql.fragment`
  received_on, batch_id, name, insert_id, product_id, generation_id, properties, happened_at`

const intoOutbox = sql.fragment`forwarded as (
      insert into event_outbox (${columns}, key, received_at) select ${columns}, key, received_at from event),`

/** 63 random bits, so that no process has to ask another for the next number. */
function newBatchId(): string {
  return String(randomBytes(8).readBigInt64BE() & 0x7fff_ffff_ffff_ffffn)
}

/** A UUID (version 8, RFC 9562) of the first bits of the SHA-256 of both. */
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
