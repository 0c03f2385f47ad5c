import { createServer } from 'node:http'
import type { ApiConfig } from '../config.ts'
import { splitList } from '../shared/config.ts'
import { createDatabase } from '../shared/database.ts'
import type { Lifecycle } from '../shared/lifecycle.ts'
import type { Log } from '../shared/log.ts'
import type { Redis } from '../shared/redis.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import { createDashboard } from './dashboard.ts'
import { createIdentityProvider } from './identity-provider.ts'
import { CALLBACK_PATH, type Grant, type SingleSignOn } from './single-sign-on.ts'

export interface ServeOptions {
  readonly config: ApiConfig
  readonly log: Log
  readonly lifecycle: Lifecycle
  readonly redis: Redis
  readonly storage: ObjectStorage
}

/** Serves the dashboard on its own port, where one is configured. */
export function serveDashboard({ config, log, lifecycle, redis, storage }: ServeOptions): void {
  const { DASHBOARD_PORT, DASHBOARD_HOST, DASHBOARD_URL, DASHBOARD_PROXY_HOPS } = config
  if (DASHBOARD_PORT === undefined) return
  // Connections of its own: whatever operators ask for, callers do not wait for it.
  const database = createDatabase(config.DATABASE_URL, { poolSize: 3 })
  lifecycle.onStop('dashboard database', () => database.end())
  const app = createDashboard({
    ...{ log, database, redis, storage },
    origin: DASHBOARD_URL === '' ? null : new URL(DASHBOARD_URL).origin,
    proxyHops: DASHBOARD_PROXY_HOPS,
    singleSignOn: readSingleSignOn(config),
    endpointRules: { allowCidrs: config.FETCH_ALLOW_CIDRS, allowPorts: config.FETCH_ALLOW_PORTS },
  })
  const server = createServer(app.callback())
  server.requestTimeout = 60_000
  server.headersTimeout = 15_000
  server.listen(DASHBOARD_PORT, DASHBOARD_HOST, () => log.info({ port: DASHBOARD_PORT }, 'the dashboard listens'))
  lifecycle.onStop('dashboard', () => {
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeIdleConnections()
    return closed
  })
}

function readSingleSignOn(config: ApiConfig): SingleSignOn | null {
  if (config.OIDC_ISSUER === '') return null
  return {
    provider: createIdentityProvider({
      issuer: config.OIDC_ISSUER,
      clientId: config.OIDC_CLIENT_ID,
      clientSecret: config.OIDC_CLIENT_SECRET,
      scope: config.OIDC_SCOPE,
      redirectUrl: new URL(CALLBACK_PATH, config.DASHBOARD_URL).href,
    }),
    grants: splitList(config.OIDC_OPERATORS).map(readGrant),
    trustsEmail: config.OIDC_TRUST_EMAIL === 'true',
  }
}

/** `groups=drape-operators`: the value may have `=` in it as well. */
function readGrant(text: string): Grant {
  const at = text.indexOf('=')
  return { claim: text.slice(0, at), value: text.slice(at + 1) }
}
