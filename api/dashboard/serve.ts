import type { ApiConfig } from '../config.ts'
import { createDatabase } from '../shared/database/database.ts'
import type { Announce } from '../shared/generations/transitions.store.ts'
import { createHttpServer } from '../shared/network/http-server.ts'
import { splitList } from '../shared/process/config.ts'
import type { Lifecycle } from '../shared/process/lifecycle.ts'
import type { Redis } from '../shared/queue/redis.ts'
import type { Customer } from '../shared/retention/customer.ts'
import type { SecretBox } from '../shared/signing/secret-box.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import type { Log } from '../shared/telemetry/log.ts'
import type { Engines } from './pages/engine-names.ts'
import { ROLES } from './sign-in/operators.store.ts'
import type { Grant, RoleGrant, SingleSignOn } from './sign-in/single-sign-on.ts'

export interface ServeOptions {
  readonly config: ApiConfig
  readonly log: Log
  readonly lifecycle: Lifecycle
  readonly redis: Redis
  readonly storage: ObjectStorage
  readonly engines: Engines
  readonly secrets: SecretBox
  /** Publishes the end of a generation. */
  readonly announce: Announce
  readonly erase: (customer: Customer) => Promise<string>
  readonly hasFeature: (name: string) => boolean
}

/** Serves the dashboard on its own port, if one is configured; otherwise its modules are not loaded. */
export async function serveDashboard(options: ServeOptions): Promise<void> {
  const { config, log, lifecycle, redis, storage, engines, secrets, announce, erase, hasFeature } = options
  const { DASHBOARD_PORT, DASHBOARD_HOST, DASHBOARD_URL, DASHBOARD_PROXY_HOPS } = config
  if (DASHBOARD_PORT === undefined) return
  const { createDashboard } = await import('./dashboard.ts')
  // Separate connections, so that API callers do not wait for operators.
  const database = createDatabase(config.DATABASE_URL, { poolSize: 3, secrets })
  lifecycle.onStop('dashboard database', () => database.end())
  const stopping = new AbortController()
  const app = createDashboard({
    log,
    stopping: stopping.signal,
    database,
    redis,
    storage,
    engines,
    origin: DASHBOARD_URL === '' ? null : new URL(DASHBOARD_URL).origin,
    proxyHops: DASHBOARD_PROXY_HOPS,
    singleSignOn: await readSingleSignOn(config),
    passwords: config.DASHBOARD_PASSWORD_SIGN_IN === 'true',
    secondFactor: config.DASHBOARD_SECOND_FACTOR,
    issuer: config.SERVICE_NAME,
    publicUrl: config.PUBLIC_URL,
    announce,
    erase,
    hasFeature,
    endpointRules: { allowCidrs: config.FETCH_ALLOW_CIDRS, allowPorts: config.FETCH_ALLOW_PORTS },
  })
  const server = createHttpServer(app.callback(), { name: 'dashboard', log })
  server.listen(DASHBOARD_PORT, DASHBOARD_HOST, () => log.info({ port: DASHBOARD_PORT }, 'dashboard listening'))
  lifecycle.onStop('dashboard', () => {
    stopping.abort()
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeIdleConnections()
    return closed
  })
}

async function readSingleSignOn(config: ApiConfig): Promise<SingleSignOn | null> {
  if (config.OIDC_ISSUER === '') return null
  const [{ createIdentityProvider }, { CALLBACK_PATH }] = await Promise.all([
    import('./sign-in/identity-provider.ts'),
    import('./sign-in/single-sign-on.ts'),
  ])
  return {
    provider: createIdentityProvider({
      issuer: config.OIDC_ISSUER,
      clientId: config.OIDC_CLIENT_ID,
      clientSecret: config.OIDC_CLIENT_SECRET,
      scope: config.OIDC_SCOPE,
      redirectUrl: new URL(CALLBACK_PATH, config.DASHBOARD_URL).href,
    }),
    grants: splitList(config.OIDC_OPERATORS).map(readGrant),
    roles: config.OIDC_ROLES === '' ? null : splitList(config.OIDC_ROLES).map(readRole),
    trustsEmail: config.OIDC_TRUST_EMAIL === 'true',
  }
}

/** `groups=drape-admins:admin`: the role follows the last colon. */
function readRole(text: string): RoleGrant {
  const at = text.lastIndexOf(':')
  const role = ROLES.find((known) => known === text.slice(at + 1))
  if (role === undefined) throw new Error(`OIDC_ROLES: "${text}" must end with one of ${ROLES.join(', ')}`)
  return { ...readGrant(text.slice(0, at)), role }
}

/** `groups=drape-operators`: the value may contain `=` too. */
function readGrant(text: string): Grant {
  const at = text.indexOf('=')
  return { claim: text.slice(0, at), value: text.slice(at + 1) }
}
