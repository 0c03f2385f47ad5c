import { createServer } from 'node:http'
import type { ApiConfig } from '../config.ts'
import { createDatabase } from '../shared/database.ts'
import type { Lifecycle } from '../shared/lifecycle.ts'
import type { Log } from '../shared/log.ts'
import type { Redis } from '../shared/redis.ts'
import type { ObjectStorage } from '../shared/storage/object.ts'
import { createDashboard } from './dashboard.ts'

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
