import type { Metrics } from '../../api/shared/metrics.ts'
import type { PoolStatus } from './status-schema.ts'

/** Pools that are told of by name; the series of a process must stay few. */
const MOST_POOLS = 50
/** Told of as one pool: all the others. */
const OTHERS = 'others'

/** Conditions that are worth a look while they hold. */
const CONDITIONS = ['Reconciling', 'Stalled', 'ScalingLimited', 'CostCapped', 'Draining', 'Paused']

export interface PoolGauges {
  note(key: string, status: PoolStatus): void
  forget(key: string): void
  /** Another process acts now, and tells of them. */
  forgetAll(): void
}

/** Shows what was found out about pools and decided, whenever the metrics are read. The pool's label is `namespace/name`. */
export function createPoolGauges({ watch }: Pick<Metrics, 'watch'>): PoolGauges {
  const statuses = new Map<string, PoolStatus>()
  const show = (about: { name: string; help: string; label?: string }, read: Read) =>
    watch({ ...about, labels: ['pool', ...(about.label ? [about.label] : [])] }, () =>
      readAll(statuses, { ...about, read }),
    )
  show(
    { name: 'drape_pool_workers', help: 'Workers that are there, by what they do', label: 'state' },
    ({ workers, replicas = 0 }) => ({ ...NO_WORKERS, ...countStates(workers), Unlisted: replicas - workers.length }),
  )
  show(
    {
      name: 'drape_pool_bounds',
      help: 'Workers that there should be (desired), at least (min), at most (max)',
      label: 'bound',
    },
    ({ min, desiredReplicas, max }) => ({ min, desired: desiredReplicas, max }),
  )
  show({ name: 'drape_pool_ready_workers', help: 'Workers whose pods are ready' }, ({ readyReplicas }) => ({
    '': readyReplicas,
  }))
  show({ name: 'drape_pool_jobs', help: 'Jobs that wait, and that are in hand', label: 'state' }, ({ demand }) => ({
    waiting: demand?.waiting,
    running: demand?.inFlight,
  }))
  show(
    { name: 'drape_pool_hourly_cost', help: 'What the workers that are there cost an hour, in the unit of the pools' },
    ({ hourlyCost }) => ({ '': hourlyCost }),
  )
  show(
    {
      name: 'drape_pool_limited',
      help: '1 for each rule that keeps a pool from the number that its demand asks for',
      label: 'by',
    },
    ({ limitedBy = '' }) =>
      Object.fromEntries(
        limitedBy
          .split(', ')
          .filter(Boolean)
          .map((rule) => [rule, 1]),
      ),
  )
  show(
    { name: 'drape_pool_condition', help: '1 while a condition holds that is worth a look', label: 'type' },
    ({ conditions }) =>
      Object.fromEntries(
        conditions
          .filter(({ type }) => CONDITIONS.includes(type))
          .map(({ type, status }) => [type, Number(status === 'True')]),
      ),
  )
  watch(
    { name: 'drape_pool_oldest_wait_seconds', help: 'How long the oldest job of a pool has waited', labels: ['pool'] },
    () => oldestWaits(statuses),
  )
  return {
    note: (key, status) => void statuses.set(key, status),
    forget: (key) => void statuses.delete(key),
    forgetAll: () => statuses.clear(),
  }
}

/** Values by the second label; what is not known is left out. */
type Read = (status: PoolStatus) => Readonly<Record<string, number | undefined>>

const NO_WORKERS = { Starting: 0, Idle: 0, Busy: 0, Draining: 0, Drained: 0, Silent: 0 }

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

/** The longest, where several pools are told of as one. */
function oldestWaits(statuses: ReadonlyMap<string, PoolStatus>) {
  const longest = new Map<string, number>()
  for (const [pool, { demand }] of named(statuses)) {
    if (demand) longest.set(pool, Math.max(demand.oldestWaitSeconds, longest.get(pool) ?? 0))
  }
  return [...longest].map(([pool, value]) => ({ labels: { pool }, value }))
}

function named(statuses: ReadonlyMap<string, PoolStatus>): [string, PoolStatus][] {
  return [...statuses].map(([key, status], i) => [i < MOST_POOLS ? key : OTHERS, status])
}
