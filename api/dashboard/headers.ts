import type { DashboardContext, DashboardMiddleware } from './state.ts'

/** Pages load their style sheet and nothing else from here, and run no script but where `allowScript` says so. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Lets the page of this answer run the script of the dashboard. No address of it answers with text of anyone else. */
export function allowScript(ctx: DashboardContext): void {
  ctx.set('Content-Security-Policy', `${POLICY}; script-src 'self'`)
}

/** What a browser is to hold to on every answer. */
export function setHeaders({ isSecure }: { isSecure: boolean }): DashboardMiddleware {
  return function headers(ctx, next) {
    ctx.set('Content-Security-Policy', POLICY)
    ctx.set('Cache-Control', 'no-store')
    ctx.set('Referrer-Policy', 'same-origin')
    ctx.set('X-Content-Type-Options', 'nosniff')
    ctx.set('X-Frame-Options', 'DENY')
    ctx.set('X-Robots-Tag', 'noindex')
    ctx.set('Cross-Origin-Opener-Policy', 'same-origin')
    ctx.set('Cross-Origin-Resource-Policy', 'same-origin')
    if (isSecure) ctx.set('Strict-Transport-Security', 'max-age=31536000')
    return next()
  }
}
