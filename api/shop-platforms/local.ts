import type { Leads } from '../stores/leads.ts'
import { LEADS_SEGMENT, LEADS_TAG, type ShopPlatform } from './shop-platform.ts'

/** What stands in for a platform where a shop has none: leads are kept here, and no products but those of the catalog. */
export function createLocalPlatform({ leads }: { leads: Leads }): ShopPlatform {
  return {
    findProduct: async () => null,
    keepLead: (_, { outboxId }) => leads.take(outboxId, { tag: LEADS_TAG, segment: LEADS_SEGMENT }),
  }
}
