import type { Metrics } from '../../../api/shared/telemetry/metrics.ts'
import type { PoolStatus } from './status-schema.ts'

/** Max pools with their own series, to limit cardinality. */
const MAX_POOLS = 50
/** Label value that aggregates all other pools. */
const OTHERS = 'others'

/** Conditions that deserve attention while they are True. */
const CONDITIONS = ['Problems', 'Reconciling', 'Stalled', 'ScalingLimited', 'AboveCap', 'Paused']

export interface PoolGauges {
  note(key: string, status: PoolStatus, engines: readonly string[]): void
  forget(key: string): void
  /** Removes all series when another process becomes the leader. */
  forgetAll(): void
}

/** Metrics of the observed state and decisions of pools, computed on each scrape. The pool label is `namespace/name`. */
export function createPoolGauges({ watch }: Pick<Metrics, 'watch'>): PoolGauges {
  const statuses = new Map<string, PoolStatus>()
  const enginesOf = new Map<string, readonly string[]>()
  for (const { name, help, label, read } of POOL_GAUGES) {
    watch({ name, help, labels: ['pool', ...(label ? [label] : [])] }, () => readAll(statuses, { label, read }))
  }
  watch(
    {
      name: 'drape_pool_oldest_wait_seconds',
      help: 'Seconds that the oldest job of the pool has waited',
      labels: ['pool'],
    },
    () => oldestWaits(statuses),
  )
  watch({ name: 'drape_engine_pools', help: 'Worker pools that serve an engine', labels: ['engine'] }, () =>
    countPools([...enginesOf.values()].flat()),
  )
  return {
    note: (key, status, engines) => {
      statuses.set(key, status)
      enginesOf.set(key, engines)
    },
    forget: (key) => {
      statuses.delete(key)
      enginesOf.delete(key)
    },
    forgetAll: () => {
      statuses.clear()
      enginesOf.clear()
    },
  }
}

/** Values by the second label; unknown values are omitted. */
type Read = (status: PoolStatus) => Readonly<Record<string, number | undefined>>

const NO_WORKERS = { Starting: 0, Idle: 0, Busy: 0, Draining: 0, Drained: 0, Silent: 0, Sick: 0 }

interface PoolGauge {
  readonly name: string
  readonly help: string
  /** Name of the second label. */
  readonly label?: string
  readonly read: Read
}

const POOL_GAUGES: readonly PoolGauge[] = [
  {
    name: 'drape_pool_workers',
    help: 'Existing workers of the pool, by state',
    label: 'state',
    read: ({ workers, busyReplicas, replicas = 0 }) => ({
      ...NO_WORKERS,
      ...countStates(workers),
      Unlisted: replicas - workers.length,
      ...(busyReplicas === undefined && { Busy: undefined, Idle: undefined }),
    }),
  },
  {
    name: 'drape_pool_bounds',
    help: 'Number of workers of the pool: desired, min and max',
    label: 'bound',
    read: ({ min, desiredReplicas, max }) => ({ min, desired: desiredReplicas, max }),
  },
  {
    name: 'drape_pool_ready_workers',
    help: 'Workers of the pool whose pods are ready',
    read: ({ readyReplicas }) => ({ '': readyReplicas }),
  },
  {
    name: 'drape_pool_jobs',
    help: 'Jobs for the engines of the pool, by state: waiting, running',
    label: 'state',
    read: ({ demand }) => ({ waiting: demand?.waiting, running: demand?.inFlight }),
  },
  {
    name: 'drape_pool_gated_workers',
    help: 'Workers that Kueue holds back until their queue has quota',
    read: ({ gatedReplicas }) => ({ '': gatedReplicas }),
  },
  {
    name: 'drape_pool_hourly_cost',
    help: 'Cost of the workers on nodes per hour, in the unit of hourlyCost',
    read: ({ hourlyCost }) => ({ '': hourlyCost }),
  },
  {
    name: 'drape_pool_sick_workers',
    help: 'Workers that recently fenced themselves because their accelerator kept failing',
    read: ({ sickWorkers = [] }) => ({ '': sickWorkers.length }),
  },
  {
    name: 'drape_pool_failing_workers',
    help: 'Workers that do not start, and pods that nodes rejected lately, by reason',
    label: 'reason',
    read: ({ failingWorkers = [] }) => {
      const byReason = Map.groupBy(failingWorkers, ({ reason }) => reason)
      const countOf = (some: typeof failingWorkers) => some.reduce((sum, { workers }) => sum + workers, 0)
      // A panel must tell a pool without failures from a controller that is away.
      return { None: 0, ...Object.fromEntries([...byReason].map(([reason, some]) => [reason, countOf(some)])) }
    },
  },
  {
    name: 'drape_pool_limited',
    help: '1 for each rule that keeps the number of workers from the number that the demand requires',
    label: 'by',
    read: ({ limitedBy = '' }) => {
      const rules = limitedBy.split(', ').filter(Boolean)
      return Object.fromEntries(rules.map((rule) => [rule, 1]))
    },
  },
  {
    name: 'drape_pool_condition',
    help: '1 while the condition of the pool is True, otherwise 0',
    label: 'type',
    read: ({ conditions }) => {
      const shown = conditions.filter(({ type }) => CONDITIONS.includes(type))
      return Object.fromEntries(shown.map(({ type, status }) => [type, Number(status === 'True')]))
    },
  },
]

function countStates(workers: PoolStatus['workers']): Record<string, number> {
  return Object.fromEntries(
    Object.entries(Object.groupBy(workers, ({ state }) => state)).map(([state, group]) => [state, group.length]),
  )
}

function readAll(statuses: ReadonlyMap<string, PoolStatus>, { label, read }: { label?: string; read: Read }) {
  const sums = new Map<string, { labels: Record<string, string>; value: number }>()
  for (const [pool, status] of named(statuses)) {
    for (const [name, value = null] of Object.entries(read(status))) {
      if (value === null) continue
      const key = `${pool} ${name}`
      const labels = { pool, ...(label && { [label]: name }) }
      sums.set(key, { labels, value: value + (sums.get(key)?.value ?? 0) })
    }
  }
  return [...sums.values()]
}

function countPools(engines: readonly string[]) {
  const groups = Object.entries(Object.groupBy(engines, (engine) => engine))
  return groups.map(([engine, group = []]) => ({ labels: { engine }, value: group.length }))
}

/** The maximum, if several pools are aggregated. */
function oldestWaits(statuses: ReadonlyMap<string, PoolStatus>) {
  const longest = new Map<string, number>()
  for (const [pool, { demand }] of named(statuses)) {
    if (demand) longest.set(pool, Math.max(demand.oldestWaitSeconds, longest.get(pool) ?? 0))
  }
  return [...longest].map(([pool, value]) => ({ labels: { pool }, value }))
}

function named(statuses: ReadonlyMap<string, PoolStatus>): [string, PoolStatus][] {
  return [...statuses].map(([key, status], i) => [i < MAX_POOLS ? key : OTHERS, status])
}
