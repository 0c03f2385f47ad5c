import type { DashboardContext, DashboardMiddleware } from './state.ts'

/** Pages load only their style sheet, and run scripts only after `allowScript`. */
const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "img-src 'self' data:",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Allows this page to run the dashboard's script, and the script to read from the dashboard. No path of it returns texts of others. */
export function allowScript(ctx: DashboardContext): void {
  ctx.set('Content-Security-Policy', `${POLICY}; connect-src 'self'; script-src 'self'`)
}

/** Sets the security headers of every response. */
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
