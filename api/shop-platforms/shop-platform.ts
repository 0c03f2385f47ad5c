import type { ShopRecord } from '../stores/shops.ts'

/**
 * What a shop's platform can do for us. Every method throws a DrapeError `SERVICE_UNAVAILABLE`: a retryable one when the platform
 * cannot be reached or asks to wait, another when it refuses, as it does after our token has ended.
 */
export interface ShopPlatform {
  /** The product of this global id (`gid://…/Product/<id>`) with its images, or null when the shop has no published one. */
  findProduct(shop: ShopRecord, productGid: string, variantGid: string | null): Promise<PlatformProduct | null>
  /** Looks the customer up by e-mail, creates or updates the record, tags it and sees that the segment Widget Leads exists. */
  keepLead(shop: ShopRecord, lead: Lead): Promise<void>
}

export interface PlatformProduct {
  readonly title: string
  readonly description: string | null
  /** Links to its pictures, the variant's own first. */
  readonly imageUrls: readonly string[]
}

export interface Lead {
  /** Its row in the outbox. */
  readonly outboxId: number
  readonly email: string
  readonly marketingConsent: boolean
}

/** The segment that holds everybody who left an e-mail address. */
export const LEADS_SEGMENT = 'Widget Leads'
/** What puts a customer into that segment. */
export const LEADS_TAG = 'widget-lead'
