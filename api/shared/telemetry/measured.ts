import { SERVICE_FAILURE_CODES } from '../contract/error-codes.ts'
import type { ErrorCode } from '../contract/errors.ts'
import { TEST_ENGINE } from '../contract/test-mode.ts'
import type { Database } from '../database/database.ts'
import { SERVICE_CLASSES, type ServiceClass } from '../generations/generation.ts'
import type { Announce } from '../generations/transitions.store.ts'
import type { FetchImage } from '../network/fetch-image.ts'
import type { ObjectStorage } from '../storage/object.ts'
import type { Metrics } from './metrics.ts'
import { withSpan } from './telemetry.ts'

/** Initialised to 0, so that the first increment is visible to rate(). */
const OUTCOMES = ['ok', 'failed'] as const

/**
 * Wraps a storage: measures reads and writes and records them as spans. Does not record keys, which name callers'
 * images.
 */
export function measureStorage(storage: ObjectStorage, metrics: Metrics): ObjectStorage {
  for (const operation of ['put', 'get', 'delete']) {
    for (const outcome of OUTCOMES) metrics.storage.zero({ operation, outcome })
  }
  const measured = <T>(operation: 'put' | 'get' | 'delete', work: () => Promise<T>) => {
    const attributes = { 'drape.storage.operation': operation }
    const timed = () => timeInto((outcome) => metrics.storage.labels({ operation, outcome }), work)
    return withSpan(`storage ${operation}`, { kind: 'client', attributes }, timed)
  }
  return {
    ...storage,
    put: (key, content, about) => measured('put', () => storage.put(key, content, about)),
    get: (key) => measured('get', () => storage.get(key)),
    delete: (keys) => measured('delete', () => storage.delete(keys)),
  }
}

/** Wraps a fetcher: measures it and records spans without the URL. */
export function measureFetch(fetchImage: FetchImage, metrics: Metrics): FetchImage {
  for (const outcome of OUTCOMES) metrics.fetches.zero({ outcome })
  return (url) =>
    withSpan('fetch image', { kind: 'client' }, () =>
      timeInto(
        (outcome) => metrics.fetches.labels({ outcome }),
        () => fetchImage(url),
      ),
    )
}

/** The common failures. */
const FAILURES: readonly ErrorCode[] = [
  ...SERVICE_FAILURE_CODES,
  'GENERATION_CANCELLED',
  'NO_PERSON_DETECTED',
  'PRODUCT_IMAGE_FETCH_FAILED',
  'RESULT_REJECTED',
]

/** Initialises the ends of generations of an engine, so that the first is visible to increase() and rate(). */
export function zeroEnds({ finished, ended, starts }: Metrics, engine: string): void {
  for (const serviceClass of SERVICE_CLASSES) {
    zeroFailures({ finished }, engine, serviceClass)
    finished.inc({ engine, status: 'COMPLETED', code: '', class: serviceClass }, 0)
    ended.zero({ engine, status: 'COMPLETED', class: serviceClass })
    starts.zero({ engine, class: serviceClass, outcome: 'expired' })
  }
}

/** The first start of a new worker is the one that waited for the start of the worker. */
export function zeroStarts({ starts }: Metrics, engines: readonly string[]): void {
  for (const engine of engines)
    for (const serviceClass of SERVICE_CLASSES) starts.zero({ engine, class: serviceClass, outcome: 'started' })
}

function zeroFailures({ finished }: Pick<Metrics, 'finished'>, engine: string, serviceClass: ServiceClass): void {
  for (const code of FAILURES) finished.inc({ engine, status: 'FAILED', code, class: serviceClass }, 0)
}

/** Counts ended generations and their durations, and passes their changes on to `announce`. */
export function countEnds(announce: Announce, metrics: Metrics): Announce {
  const known = new Set<string>()
  return (change, about) => {
    const { status } = change
    const { engine, errorCode, seconds, serviceClass, isStarted } = about
    if ((status === 'COMPLETED' || status === 'FAILED') && engine !== TEST_ENGINE) {
      if (!known.has(`${engine} ${serviceClass}`)) zeroFailures(metrics, engine, serviceClass)
      known.add(`${engine} ${serviceClass}`)
      metrics.finished.inc({ engine, status, code: errorCode ?? '', class: serviceClass })
      metrics.ended.observe({ engine, status, class: serviceClass }, seconds)
      if (errorCode === 'GENERATION_TIMEOUT' && !isStarted)
        metrics.starts.observe({ engine, class: serviceClass, outcome: 'expired' }, seconds)
    }
    announce(change, about)
  }
}

/** Reports the use of connections at each scrape. */
export function watchConnections(database: Database, metrics: Metrics): void {
  const help = 'Connections to Postgres, by state: active, idle; and statements that wait for a connection: waiting'
  metrics.watch({ name: 'drape_database_connections', help, labels: ['state'] }, () =>
    Object.entries(database.countConnections()).map(([state, value]) => ({ labels: { state }, value })),
  )
}

async function timeInto<T>(
  observer: (outcome: (typeof OUTCOMES)[number]) => { observe(seconds: number): void },
  work: () => Promise<T>,
): Promise<T> {
  const started = performance.now()
  let outcome: (typeof OUTCOMES)[number] = 'failed'
  try {
    const result = await work()
    outcome = 'ok'
    return result
  } finally {
    observer(outcome).observe((performance.now() - started) / 1000)
  }
}
