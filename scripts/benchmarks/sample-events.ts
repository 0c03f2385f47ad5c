export const EVENTS_AT_ONCE = 50

/** Browser context of an event. */
export const EVENT_CONTEXT = {
  anonymous_id: 'anon_01939f4e-6b1d-7c3a-9d52-3f1f0c9e8b7a',
  session_id: 'sess_01939f4e-6b1d-7c3a-9d52-3f1f0c9e8b7b',
  $pageview_id: '01939f4e-6b1d-7c3a-9d52-3f1f0c9e8b7c',
  widget_version: 'wv_1.4.0',
  widget_enabled: true,
  product_id: 'gid://shopify/Product/8123456789',
  variant_id: 'gid://shopify/ProductVariant/4412345678',
  $screen_width: 1920,
  $screen_height: 1080,
  $timezone: 'Europe/Berlin',
  $current_url: 'https://shop.example/products/linen-shirt?variant=4412345678',
  $pathname: '/products/linen-shirt',
  $host: 'shop.example',
  $viewport_width: 1280,
  $viewport_height: 720,
  $raw_user_agent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  $browser_language: 'de-DE',
  integration: 'sdk',
} as const

/** An event at the current time, without an id. */
export function sampleEvent() {
  return {
    event: 'widget:result_view',
    properties: { generation_id: 'gen_01939f4e-6b1d-7c3a-9d52-3f1f0c9e8b7d', source: 'modal', position: 3 },
    timestamp: new Date().toISOString(),
  }
}
