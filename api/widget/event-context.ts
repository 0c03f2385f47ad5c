import type { Settings } from './settings.ts'
import type { Visit } from './visit.ts'

const VERSION = '1.0.0'

/** Context of events behind the proxy of a shop, in the format of `/public/tracking/events`. */
export function trackingContext({ product, variant }: Settings, visit: Visit, isEnabled: boolean) {
  return {
    ...pageContext(),
    $referrer: document.referrer || null,
    $referring_domain: URL.canParse(document.referrer) ? new URL(document.referrer).hostname : null,
    $session_id: visit.sessionId,
    $pageview_id: visit.pageviewId,
    service_client_id: visit.clientId,
    service_widget_enabled: isEnabled,
    service_product_id: product || null,
    service_variant_id: variant,
    service_lib_version: VERSION,
  }
}

/** Context of events with a publishable key, in the format of `/storefront/v1/events`. */
export function storefrontContext({ product, variant }: Settings, visit: Visit, isEnabled: boolean) {
  return {
    ...pageContext(),
    anonymous_id: `anon_${visit.clientId}`,
    session_id: visit.sessionId,
    $pageview_id: visit.pageviewId,
    widget_version: `wv_${VERSION}`,
    widget_enabled: isEnabled,
    product_id: product || null,
    variant_id: variant,
    integration: 'widget',
  }
}

function pageContext() {
  return {
    $current_url: location.href,
    $pathname: location.pathname,
    $host: location.host,
    $screen_width: screen.width,
    $screen_height: screen.height,
    $viewport_width: innerWidth,
    $viewport_height: innerHeight,
    $raw_user_agent: navigator.userAgent,
    $browser_language: navigator.language,
    $timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}
