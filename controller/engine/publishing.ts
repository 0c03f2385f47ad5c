import { isDeepStrictEqual } from 'node:util'
import { type Database, sql } from '../../api/shared/database/database.ts'
import type { Log } from '../../api/shared/telemetry/log.ts'
import { readValid } from '../definitions/custom-resource.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { findRules } from '../worker-pool/configuration.ts'
import { type WorkerPool, workerPools } from '../worker-pool/resource.ts'
import { affordable, highestCost } from '../worker-pool/scaling/cost-tiers.ts'
import { engines as engineResource } from './resource.ts'

const POLL_MS = 1000
/** Interval after which unchanged rows are written again, so that the API sees that a controller is running. */
const RENEW_MS = 60_000

interface Published {
  readonly namespace: string
  readonly name: string
  readonly license: string
  readonly max_slots: number
  readonly start_seconds: number | null
  readonly warmup_seconds: number | null
  readonly garment_types: readonly string[] | null
}

export interface EnginePublishingParts {
  readonly database: Database
  readonly engines: Pick<Watched<KubernetesObject>, 'list'>
  readonly pools: Pick<Watched<KubernetesObject>, 'list'>
  readonly policies: Pick<Watched<KubernetesObject>, 'get'>
  readonly mayPublish: () => boolean
  readonly now: () => Date
  readonly log: Log
}

/** Publishes the Engine resources, and the capacity of the pools that run them, to Postgres, where the API reads them. */
export function startEnginePublishing(parts: EnginePublishingParts) {
  const { database, mayPublish, now, log } = parts
  const startSeconds = new Map<string, number>()
  let last: { readonly rows: readonly Published[]; readonly at: number } | null = null
  let writing: Promise<void> = Promise.resolve()
  let isWriting = false

  const publish = async () => {
    if (!mayPublish()) {
      last = null
      return
    }
    const rows = describeEngines(parts, startSeconds)
    const at = now().getTime()
    if (last && at - last.at < RENEW_MS && isDeepStrictEqual(last.rows, rows)) return
    await writeRows(database, rows)
    last = { rows, at }
  }
  const timer = setInterval(() => {
    if (isWriting) return
    isWriting = true
    writing = publish()
      .catch((error) => log.debug({ err: error }, 'engines not published'))
      .finally(() => {
        isWriting = false
      })
  }, POLL_MS)
  return {
    /** Records the seconds from the start of a worker until the worker takes jobs. */
    noteStart: ({ metadata: { namespace, name } }: WorkerPool, seconds: number) => {
      // Rounded: a difference of a tenth of a second is not worth a write.
      startSeconds.set(`${namespace}/${name}`, Math.round(seconds))
    },
    stop: async () => {
      clearInterval(timer)
      await writing
    },
  }
}

function describeEngines(
  { engines, pools, policies }: EnginePublishingParts,
  startSeconds: ReadonlyMap<string, number>,
): Published[] {
  const readable = pools
    .list()
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((pool) => readValid(workerPools, pool) ?? [])
  return engines
    .list()
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .flatMap((engine) => readValid(engineResource, engine) ?? [])
    .map(({ metadata: { namespace = '', name }, spec, status }) => {
      const isReady = status?.conditions.some((each) => each.type === 'Ready' && each.status === 'True') ?? false
      const serving = readable.filter((pool) => pool.metadata.namespace === namespace && runs(pool, name))
      const starts = serving.flatMap((pool) => startSeconds.get(`${namespace}/${pool.metadata.name}`) ?? [])
      const slots = serving.reduce((sum, pool) => sum + maxSlots(pool, policies), 0)
      return {
        namespace,
        name,
        license: spec.license.name,
        max_slots: isReady ? slots : 0,
        start_seconds: starts.length === 0 ? null : Math.min(...starts),
        warmup_seconds:
          serving.length === 0 ? null : Math.max(...serving.map((pool) => pool.spec.warmup.timeoutSeconds)),
        garment_types: spec.garmentTypes ?? null,
      }
    })
    .sort((a, b) => (`${a.namespace}/${a.name}` < `${b.namespace}/${b.name}` ? -1 : 1))
}

function runs({ spec }: WorkerPool, engine: string): boolean {
  return spec.queues.includes('try-on') && spec.engines.includes(engine)
}

/** Max slots of the pool at any time: at the highest max of all schedules, within the cost cap. */
function maxSlots(pool: WorkerPool, policies: EnginePublishingParts['policies']): number {
  const { slotsPerReplica, scaling } = pool.spec
  const found = findRules(pool, policies)
  if ('missing' in found) return 0
  // Another program sets the replicas and can raise them from 0.
  if ('fixed' in found) return Math.max(found.fixed, scaling.mode === 'External' ? 1 : 0) * slotsPerReplica
  const { bounds, schedules, cost } = found.rules
  const max = Math.max(bounds.max, ...schedules.map((schedule) => schedule.max ?? 0))
  const hourlyCost = highestCost(pool)
  const allowed = cost?.mode === 'Hard' && hourlyCost > 0 ? affordable(cost.hourlyCap, hourlyCost) : max
  return Math.min(max, allowed) * slotsPerReplica
}

async function writeRows(database: Database, rows: readonly Published[]): Promise<void> {
  await database.query(sql.unsafe`
    with wanted as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
        as wanted (namespace text, name text, license text, max_slots integer, start_seconds double precision, warmup_seconds integer,
          garment_types jsonb)
    ), gone as (
      delete from published_engines where (namespace, name) not in (select namespace, name from wanted)
    )
    insert into published_engines (namespace, name, license, max_slots, start_seconds, warmup_seconds, garment_types)
    select namespace, name, license, max_slots, start_seconds, warmup_seconds, nullif(garment_types, 'null') from wanted
    on conflict (namespace, name) do update set license = excluded.license, max_slots = excluded.max_slots,
      start_seconds = excluded.start_seconds, warmup_seconds = excluded.warmup_seconds, garment_types = excluded.garment_types, published_at = now()`)
}
