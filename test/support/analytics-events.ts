import { createAccounts } from '../../api/accounts/accounts.store.ts'
import type { Drape } from './drape.ts'

/** The variable part of the events of a test, as sent. */
export interface SentEvent {
  readonly event?: unknown
  readonly properties?: unknown
  readonly timestamp?: unknown
  readonly $insert_id?: unknown
}

const NOW = new Date().toISOString()

/** An event that both endpoints accept. */
export function eventOf(insertId: string, more: SentEvent = {}) {
  return { event: 'widget:button_click', properties: {}, timestamp: NOW, $insert_id: insertId, ...more }
}

/** A context that `/storefront/v1/events` accepts, of an app without a page. */
export const APP_CONTEXT = {
  anonymous_id: 'anon_1f',
  session_id: 'sess_1f',
  $pageview_id: 'page-1',
  widget_version: 'wv_1.0.0',
  widget_enabled: true,
  product_id: 'gid://shopify/Product/1',
  variant_id: null,
  $screen_width: 0,
  $screen_height: 0,
  $timezone: 'Europe/Berlin',
} as const

/** A context that `/public/tracking/events` accepts. */
export const PAGE_CONTEXT = {
  $current_url: 'https://shop.test/products/shirt?colour=blue',
  $pathname: '/products/shirt',
  $host: 'shop.test',
  $referrer: null,
  $referring_domain: null,
  $screen_width: 1920,
  $screen_height: 1080,
  $viewport_width: 1280,
  $viewport_height: 720,
  $raw_user_agent: 'Mozilla/5.0',
  $browser_language: 'de-DE',
  $timezone: 'Europe/Berlin',
  $session_id: '0190-session',
  $pageview_id: '0190-page',
  service_client_id: '6f9619ff-8b86-4011-b42d-00c04fc964ff',
  service_widget_enabled: true,
  service_product_id: 'gid://shopify/Product/1',
  service_variant_id: null,
  service_lib_version: '1.0.0',
} as const

/** The headers of an app that has a publishable key of the account. */
export async function appHeaders(drape: Drape, accountId = drape.accountId): Promise<Record<string, string>> {
  const key = await createAccounts(drape.database).insertKey(accountId, 'publishable')
  return { authorization: `Bearer ${key}`, 'x-service-anonymous-id': APP_CONTEXT.anonymous_id }
}
