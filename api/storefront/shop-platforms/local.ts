import type { Leads } from '../leads/leads.store.ts'
import { LEADS_SEGMENT, LEADS_TAG, type ShopPlatform } from './shop-platform.ts'

/**
 * Platform of shops without an external one: stores leads in the database, and has no products outside of the catalog.
 */
export function createLocalPlatform({ leads }: { leads: Leads }): ShopPlatform {
  return {
    findProduct: async () => null,
    keepLead: (_, { outboxId }) => leads.take(outboxId, { tag: LEADS_TAG, segment: LEADS_SEGMENT }),
  }
}
