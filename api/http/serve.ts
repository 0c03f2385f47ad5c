import type { RequestListener } from 'node:http'
import type { Connections } from '../config.ts'
import { pingDatabase } from '../shared/database/database.ts'
import { createHttpServer } from '../shared/network/http-server.ts'
import { createProbeServer } from '../shared/network/probes.ts'
import { refuse } from '../shared/network/unparsed-requests.ts'
import { createDrain, type Drain } from './drain.ts'

const STARTING = {
  status: 503,
  code: 'SERVICE_UNAVAILABLE',
  message: 'The service is starting: the database is being compared with the erasure log. Retry after 1 second.',
} as const

/** Answers probes, and refuses every other request until `serve`. */
export function startServer(
  { config, database, redis, storage, lifecycle, log, metrics }: Connections,
  { checkErasures }: { readonly checkErasures: () => Promise<void> },
) {
  let drain: Drain | null = null
  const probes = createProbeServer({
    log,
    metrics,
    checks: {
      postgres: () => pingDatabase(database),
      redis: () => redis.ping(),
      storage: () => storage.check(),
      erasures: checkErasures,
      server: async () => {
        if (drain === null) throw new Error('the process is starting')
        if (drain.isDraining()) throw new Error('the process is shutting down')
      },
    },
  })
  probes.listen(config.PROBE_PORT, config.PROBE_HOST || undefined)
  lifecycle.onStop('probes', () => new Promise((resolve) => probes.close(resolve)))
  let handle: RequestListener = (_, response) => {
    response.setHeader('retry-after', '1')
    refuse(response, STARTING)
  }
  const server = createHttpServer((request, response) => handle(request, response), { name: 'api', log })
  server.listen(config.PORT, () => log.info({ port: config.PORT }, 'listening'))
  return {
    /** Serves from now on. `endStreams` ends the responses that are still open when the process stops. */
    serve: (listener: RequestListener, endStreams: () => void): void => {
      handle = listener
      const draining = createDrain(server, config.LINGER_SECONDS)
      drain = draining
      log.info('serving')
      lifecycle.onStop('server', () => draining.drain(endStreams))
    },
  }
}
