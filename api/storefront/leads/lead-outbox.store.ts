import { type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'

const WaitingRow = Type.Object({
  id: Type.Integer(),
  shopId: Type.String(),
  email: Type.String(),
  marketingConsent: Type.Boolean(),
  attempts: Type.Integer(),
  /** Seconds since the shopper left the address. */
  waitedSeconds: Type.Number(),
})
/** E-mail address to deliver to the platform of its shop. */
export type WaitingLead = Static<typeof WaitingRow>

const Taken = rowType(Type.Object({ taken: Type.Boolean() }))

/** Maximum number of undelivered leads per shop, refused ones included. Limits a flood to the shop that causes it. */
const MAX_WAITING_LEADS = 10_000

export interface NewLead {
  readonly shopId: string
  readonly externalUserId: string
  readonly email: string
  readonly marketingConsent: boolean
}

/** Shoppers whose erasure deletes one address. */
const MAX_OWNERS = 100

export interface LeadClaim {
  readonly limit: number
  readonly leaseSeconds: number
  readonly inFlight: Readonly<Record<string, number>>
}

export type LeadOutbox = ReturnType<typeof createLeadOutbox>

/** The owners of a row that is left again. Beyond the limit, inventors of browsers replace each other. */
export function mergedOwners(table: 'waits' | 'leads') {
  const owners = sql.identifier([table, 'owner_ids'])
  return sql.fragment`(excluded.owner_ids || array(
              select owner from unnest(${owners}) as owner where owner <> all(excluded.owner_ids) limit ${MAX_OWNERS}))`
}

/** Outbox of e-mail addresses for the platforms of their shops. */
export function createLeadOutbox(database: Database) {
  return {
    /**
     * Stores the lead, or adds consent to the same address. Returns false if the shop has too many undelivered leads.
     */
    insert: (lead: NewLead, { max = MAX_WAITING_LEADS }: { max?: number } = {}): Promise<boolean> =>
      database.oneFirst(sql.type(Taken)`
        with waiting as (
          select count(*) from (select from lead_outbox where shop_id = ${lead.shopId} limit ${max}) as counted
        ), stored as (
          insert into lead_outbox as waits (shop_id, email, marketing_consent, owner_ids)
          select ${lead.shopId}, ${lead.email}, ${lead.marketingConsent}, array[${lead.externalUserId}]
          from waiting where count < ${max}
          on conflict (shop_id, lower(email)) do update set
            marketing_consent = waits.marketing_consent or excluded.marketing_consent,
            owner_ids = ${mergedOwners('waits')},
            available_at = least(waits.available_at, now()), dead_at = null, reason = null
          returning id
        )
        select exists (select from stored) as taken`),

    /**
     * Claims the leads that have waited longest. No other process receives them for `leaseSeconds`. `inFlight` counts
     * the leads that this process is delivering, by shop.
     */
    claim: ({ limit, leaseSeconds, inFlight }: LeadClaim): Promise<readonly WaitingLead[]> =>
      database.any(sql.type(rowType(WaitingRow))`
        with due as materialized (
          -- Round-robin by shop, so that the flood of one shop does not delay the leads of another.
          select lead_outbox.id from lead_outbox join (
            select id, row_number() over (partition by shop_id order by available_at, id)
              + coalesce((${sql.jsonb({ ...inFlight })}->>shop_id)::int, 0) as turn
            from (
              select id, shop_id, available_at from lead_outbox where dead_at is null and available_at <= now()
            ) as due
          ) as turns using (id)
          where dead_at is null and available_at <= now()
          order by turn, lead_outbox.id limit ${limit} for update of lead_outbox skip locked
        )
        update lead_outbox set attempts = attempts + 1, available_at = now() + make_interval(secs => ${leaseSeconds})
        from due where lead_outbox.id = due.id
        returning lead_outbox.id, shop_id as "shopId", email, marketing_consent as "marketingConsent", attempts,
          extract(epoch from now() - created_at)::float8 as "waitedSeconds"`),

    /** Deletes a delivered lead, unless the shopper has given more consent meanwhile. */
    delete: async ({ id, marketingConsent }: WaitingLead): Promise<void> => {
      await database.query(sql.unsafe`
        delete from lead_outbox where id = ${id} and marketing_consent = ${marketingConsent}`)
    },

    /** Makes a lead claimable again after `seconds`. */
    release: async ({ id }: WaitingLead, { seconds, reason }: { seconds: number; reason: string }): Promise<void> => {
      await database.query(sql.unsafe`
        update lead_outbox set available_at = now() + make_interval(secs => ${seconds}), reason = ${reason}
        where id = ${id}`)
    },

    /** Parks a lead: it is kept but not delivered again. */
    park: async ({ id }: WaitingLead, { reason }: { reason: string }): Promise<void> => {
      await database.query(sql.unsafe`
        update lead_outbox set dead_at = now(), reason = ${reason} where id = ${id}`)
    },

    /** Makes every parked lead of a shop claimable again. Returns the count. */
    retry: async (shopId: string): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        update lead_outbox set dead_at = null, reason = null, attempts = 0, available_at = now(), created_at = now_ms()
        where shop_id = ${shopId} and dead_at is not null`)
      return rowCount
    },
  }
}
