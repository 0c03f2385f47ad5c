import { type Database, sql } from '../shared/database.ts'

export interface KeptLead {
  readonly shopId: string
  readonly email: string
  readonly marketingConsent: boolean
  readonly tag: string
  readonly segment: string
}

export type Leads = ReturnType<typeof createLeads>

/** Customers of shops whose platform keeps none. */
export function createLeads(database: Database) {
  return {
    /** Adds the lead, or adds to it: consent once given, tags and segments stay. */
    keep: async ({ shopId, email, marketingConsent, tag, segment }: KeptLead): Promise<void> => {
      await database.query(sql.unsafe`
        insert into leads (shop_id, email, marketing_consent, tags, segments)
        values (${shopId}, ${email}, ${marketingConsent}, ${sql.jsonb([tag])}, ${sql.jsonb([segment])})
        on conflict (shop_id, lower(email)) do update set
          marketing_consent = leads.marketing_consent or excluded.marketing_consent,
          tags = case when leads.tags @> excluded.tags then leads.tags else leads.tags || excluded.tags end,
          segments = case when leads.segments @> excluded.segments then leads.segments
            else leads.segments || excluded.segments end,
          updated_at = now_ms()`)
    },
  }
}
