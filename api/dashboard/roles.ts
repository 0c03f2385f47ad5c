import type { Role } from './operators.store.ts'

/**
 * Role required by each route, in addition to `admin`; every role includes `viewer`. A route that is missing here is
 * not served.
 */
export const ROUTE_ROLES: Readonly<Record<string, Role>> = {
  'GET /': 'viewer',
  'POST /sign-out': 'viewer',
  'GET /second-factor': 'viewer',
  'POST /second-factor/start': 'viewer',
  'POST /second-factor/confirm': 'viewer',
  'POST /second-factor/recovery-codes': 'viewer',
  'POST /second-factor/remove': 'viewer',
  'GET /accounts': 'viewer',
  'GET /accounts/new': 'admin',
  'POST /accounts': 'admin',
  'GET /accounts/:id': 'viewer',
  'POST /accounts/:id': 'admin',
  'POST /accounts/:id/active': 'admin',
  'POST /accounts/:id/credits': 'billing',
  'GET /accounts/:id/ledger': 'viewer',
  'GET /accounts/:id/requests': 'viewer',
  'POST /accounts/:id/keys': 'admin',
  'POST /accounts/:id/keys/:key/rotate': 'admin',
  'POST /accounts/:id/keys/:key/revoke': 'admin',
  'GET /accounts/:id/logo': 'viewer',
  'POST /accounts/:id/logo': 'admin',
  'POST /accounts/:id/logo/remove': 'admin',
  'GET /shops': 'viewer',
  'GET /shops/new': 'admin',
  'POST /shops': 'admin',
  'GET /shops/:id': 'viewer',
  'POST /shops/:id': 'admin',
  'GET /shops/:id/analytics': 'viewer',
  'GET /shops/:id/analytics.csv': 'viewer',
  'POST /shops/:id/secrets': 'admin',
  'POST /shops/:id/secrets/remove': 'admin',
  'POST /shops/:id/policies': 'admin',
  'GET /leads': 'viewer',
  'GET /leads/:shop': 'viewer',
  'POST /leads/:shop/export': 'support',
  'POST /leads/:shop/retry': 'support',
  'POST /leads/:shop/delete': 'support',
  'GET /removals': 'viewer',
  'GET /removals/:id': 'support',
  'POST /removals/:id/images': 'support',
  'POST /removals/:id/erase': 'support',
  'POST /removals/:id/decline': 'support',
  'GET /blocks': 'viewer',
  'POST /blocks/remove': 'support',
  'GET /reviews': 'viewer',
  'GET /reviews/:id': 'support',
  'POST /reviews/:id/decide': 'support',
  'GET /generations': 'viewer',
  'GET /generations/:id': 'viewer',
  'POST /generations/:id/image': 'support',
  'POST /generations/:id/cancel': 'support',
  'GET /products': 'viewer',
  'GET /webhooks': 'viewer',
  'GET /webhooks/new': 'admin',
  'POST /webhooks': 'admin',
  'GET /webhooks/:id': 'viewer',
  'POST /webhooks/:id': 'admin',
  'POST /webhooks/:id/test': 'support',
  'POST /webhooks/:id/delete': 'admin',
  'POST /webhooks/:id/secrets': 'admin',
  'POST /webhooks/:id/secrets/remove': 'admin',
  'POST /webhooks/:id/deliveries/:delivery/retry': 'support',
  'GET /audit': 'viewer',
  'GET /operators': 'admin',
  'POST /operators': 'admin',
  'POST /operators/:id': 'admin',
  'POST /operators/:id/second-factor/reset': 'admin',
}

const PATTERNS = Object.entries(ROUTE_ROLES).map(([route, role]) => {
  const [method, path] = route.split(' ')
  return { method, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`), role }
})

/** Roles that may use the routes of this method and path; empty for an unknown path. */
export function rolesFor(method: string, path: string): Role[] {
  const asked = method === 'HEAD' ? 'GET' : method
  return PATTERNS.filter((route) => route.method === asked && route.pattern.test(path)).map(({ role }) => role)
}

function hasRole(role: Role, needed: Role): boolean {
  return role === 'admin' || needed === 'viewer' || role === needed
}

/** Whether the role may send this request. */
export function isPermitted(role: Role, method: string, path: string): boolean {
  const needed = rolesFor(method, path)
  return needed.length > 0 && needed.every((one) => hasRole(role, one))
}
