import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'
import { createListing } from '../../shared/database/listing.ts'
import { mergedOwners } from './lead-outbox.store.ts'

const LeadRow = Type.Object({
  email: Type.String(),
  marketingConsent: Type.Boolean(),
  /** `kept` by Drape, `waiting` for delivery to the shop's platform, or `refused` by the platform. */
  state: Type.Enum(['kept', 'waiting', 'refused']),
  reason: Nullable(Type.String()),
  createdAt: Timestamp,
})
export type LeadRecord = Static<typeof LeadRow>

const LeadsOfShop = Type.Object({
  /** Of the shop. */
  id: Type.String(),
  domain: Type.String(),
  accountId: Type.String(),
  accountName: Type.String(),
  kept: Type.Integer(),
  waiting: Type.Integer(),
  refused: Type.Integer(),
  /** Reason of the platform's last refusal. */
  reason: Nullable(Type.String()),
})
export type ShopLeads = Static<typeof LeadsOfShop>

export interface LeadPage {
  /** Last e-mail address of the previous page; null for the first page. */
  readonly after: string | null
  readonly limit: number
}

export type Leads = ReturnType<typeof createLeads>

/**
 * Store of e-mail addresses that shoppers left: addresses that Drape keeps because the shop's platform does not, and
 * addresses awaiting delivery.
 */
export function createLeads(database: Database) {
  return {
    /**
     * Moves a lead from the outbox into this table. Consent, tags and segments accumulate. Does nothing if the lead was
     * erased meanwhile.
     */
    take: async (outboxId: number, { tag, segment }: { tag: string; segment: string }): Promise<void> => {
      await database.query(sql.unsafe`
        with taken as (
          delete from lead_outbox where id = ${outboxId} returning shop_id, email, marketing_consent, owner_ids
        )
        insert into leads (shop_id, email, marketing_consent, owner_ids, tags, segments)
        select shop_id, email, marketing_consent, owner_ids, ${sql.jsonb([tag])}, ${sql.jsonb([segment])} from taken
        on conflict (shop_id, lower(email)) do update set
          marketing_consent = leads.marketing_consent or excluded.marketing_consent,
          owner_ids = ${mergedOwners('leads')},
          tags = case when leads.tags @> excluded.tags then leads.tags else leads.tags || excluded.tags end,
          segments = case when leads.segments @> excluded.segments then leads.segments
            else leads.segments || excluded.segments end,
          updated_at = now_ms()`)
    },

    /** Lead counts of the shops that have leads. */
    byShop: createListing(database, {
      row: LeadsOfShop,
      rows: sql.fragment`
        select shops.id, domain, account_id as "accountId", accounts.name as "accountName", coalesce(kept, 0)::integer as kept,
          coalesce(waiting, 0)::integer as waiting, coalesce(refused, 0)::integer as refused, reason
        from shops join accounts on accounts.id = account_id
        left join (select shop_id, count(*) as kept from leads group by shop_id) as ours on ours.shop_id = shops.id
        left join (
          select shop_id, count(*) filter (where dead_at is null) as waiting, count(dead_at) as refused,
            (array_agg(reason order by dead_at desc nulls last))[1] as reason
          from lead_outbox group by shop_id
        ) as pending on pending.shop_id = shops.id
        where kept > 0 or waiting > 0 or refused > 0`,
      texts: ['id', 'domain', 'accountName', 'reason'],
      order: sql.fragment`refused desc, waiting desc, domain`,
    }),

    /** The leads of a shop, sorted by address. A lead that is both kept and waiting is listed as kept. */
    list: (shopId: string, { after, limit }: LeadPage): Promise<readonly LeadRecord[]> =>
      database.any(sql.type(rowType(LeadRow))`
        select email, marketing_consent as "marketingConsent", state, reason, created_at as "createdAt" from (
          select email, marketing_consent, 'kept' as state, null as reason, created_at from leads where shop_id = ${shopId}
          union all
          select email, marketing_consent, case when dead_at is null then 'waiting' else 'refused' end, reason, created_at
          from lead_outbox where shop_id = ${shopId} and not exists (
            select from leads where leads.shop_id = lead_outbox.shop_id and lower(leads.email) = lower(lead_outbox.email))
        ) as all_leads
        where ${after}::text is null or lower(email) > lower(${after})
        order by lower(email) limit ${limit}`),

    /** Deletes an address of a shop. Returns whether it existed. */
    delete: async (shopId: string, email: string): Promise<boolean> => {
      const isTheirs = sql.fragment`shop_id = ${shopId} and lower(email) = lower(${email})`
      const { rowCount } = await database.query(sql.unsafe`
        with pending as (delete from lead_outbox where ${isTheirs} returning id),
          kept as (delete from leads where ${isTheirs} returning shop_id)
        select from pending union all select from kept`)
      return rowCount > 0
    },

    /** Deletes a batch of leads that were last left more than `days` ago. Returns the count. */
    deleteOld: async (days: number, limit: number): Promise<number> => {
      const before = sql.fragment`now() - make_interval(days => ${days})`
      const kept = await database.query(sql.unsafe`
        delete from leads where ctid = any(array(select ctid from leads where updated_at < ${before} limit ${limit}))`)
      const pending = await database.query(sql.unsafe`
        delete from lead_outbox where id in (select id from lead_outbox where created_at < ${before} limit ${limit})`)
      return kept.rowCount + pending.rowCount
    },
  }
}
