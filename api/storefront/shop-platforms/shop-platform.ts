import type { ShopRecord } from '../../shops/shops.store.ts'

/**
 * API of a shop's platform. Every method throws a DrapeError `SERVICE_UNAVAILABLE`: retryable when the platform is
 * unavailable or rate-limits us, not retryable when it refuses, e.g. after the token has expired.
 */
export interface ShopPlatform {
  /**
   * The product with this global ID (`gid://…/Product/<id>`) and its images; null when the shop has not published it.
   */
  findProduct(shop: ShopRecord, productGid: string, variantGid: string | null): Promise<PlatformProduct | null>
  /**
   * Finds the customer by e-mail address, creates or updates the record, tags it and ensures that the segment Widget
   * Leads exists.
   */
  keepLead(shop: ShopRecord, lead: Lead): Promise<void>
}

export interface PlatformProduct {
  readonly title: string
  readonly description: string | null
  /** URLs of its images, those of the variant first. */
  readonly imageUrls: readonly string[]
}

export interface Lead {
  /** ID of its row in the outbox. */
  readonly outboxId: number
  readonly email: string
  readonly marketingConsent: boolean
}

/** Segment of all customers who left an e-mail address. */
export const LEADS_SEGMENT = 'Widget Leads'
/** Tag that adds a customer to that segment. */
export const LEADS_TAG = 'widget-lead'
