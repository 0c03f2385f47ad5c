import { isDeepStrictEqual } from 'node:util'
import { readValid } from '../definitions/custom-resource.ts'
import type { Client } from '../runtime/client.ts'
import { conditionsAfter } from '../runtime/conditions.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import { refusalOf } from '../runtime/refusal.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { PODS, type Pod } from '../worker-pool/pods.ts'
import { type WorkerPool, workerPools } from '../worker-pool/resource.ts'
import { readChecks } from './checks.ts'
import { findingsOf, type UnknownPrefetch } from './findings.ts'
import { ENGINE_LABEL, JOBS, type Job, type Node, type Prefetch, planPrefetch } from './prefetch.ts'
import { type Engine, engines } from './resource.ts'

export interface EngineParts {
  readonly client: Client
  readonly reportInvalid: ReportInvalid
  readonly engines: Pick<Watched<KubernetesObject>, 'get'>
  readonly pools: Pick<Watched<KubernetesObject & { spec?: { engines?: readonly string[] } }>, 'list'>
  readonly podsOf: (pool: WorkerPool) => readonly Pod[]
  /** Null while Jobs cannot be read. */
  readonly findJobs: () => readonly Job[] | null
  readonly findNodes: () => readonly Node[] | null
  readonly now: () => Date
}

/** Prefetches the files of an engine if enabled, and reports whether workers may use the engine. */
export function createEngineReconcile(parts: EngineParts) {
  return async (key: string, failures: number): Promise<undefined> => {
    const found = parts.engines.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
    const read = engines.read(found)
    if ('problems' in read) {
      await parts.reportInvalid(engines.type, found, read.problems)
      return undefined
    }
    const engine = read.object
    const pools = poolsOf(engine)
    const pods = pools.flatMap(parts.podsOf)
    const prefetch = planAhead(engine, pools)
    const known = prefetch && !('unknown' in prefetch) ? prefetch : null
    const refusal = await fetchAhead(engine, known).then(
      () => null,
      (error) => refusalOf(error, failures),
    )
    const failed = known?.failed ?? []
    const prefetchProblem = failed.length > 0 ? await findProblem(engine, failed[0]) : null
    const checks = readChecks(engine.metadata.name, pods)
    const facts = { engine, checks, prefetch, prefetchProblem, refusal: refusal?.message ?? null }
    await writeStatus(engine, findingsOf(facts))
    if (refusal) throw refusal
    return undefined
  }

  function poolsOf({ metadata }: Engine): WorkerPool[] {
    return parts.pools
      .list()
      .filter((pool) => pool.metadata.namespace === metadata.namespace && pool.spec?.engines?.includes(metadata.name))
      .flatMap((pool) => readValid(workerPools, pool) ?? [])
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  function planAhead(engine: Engine, pools: readonly WorkerPool[]): Prefetch | UnknownPrefetch | null {
    const { license, prefetch } = engine.spec
    if (!prefetch.enabled || !(license.commercialUse || license.acknowledged)) return null
    if (pools.length === 0) return { unknown: 'No pool names this engine yet.', usable: false }
    const [nodes, allJobs] = [parts.findNodes(), parts.findJobs()]
    if (nodes === null || allJobs === null)
      return { unknown: 'The controller cannot see the nodes or Jobs.', usable: true }
    const { namespace, name } = engine.metadata
    const jobs = allJobs.filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[ENGINE_LABEL] === name,
    )
    return planPrefetch({ engine, pool: pools[0], nodes, jobs })
  }

  async function fetchAhead({ metadata: { namespace } }: Engine, plan: Prefetch | null): Promise<void> {
    for (const job of plan?.make ?? []) await parts.client.apply(JOBS, job)
    for (const name of plan?.remove ?? []) await parts.client.delete(JOBS, { namespace, name })
  }

  /** Message of the last failed pod of a Job. */
  async function findProblem({ metadata }: Engine, job: string): Promise<string> {
    const labelSelector = `batch.kubernetes.io/job-name=${job}`
    const pods = await parts.client.list<Pod>(PODS, { namespace: metadata.namespace, labelSelector })
    const messages = pods.flatMap(({ status }) =>
      (status?.containerStatuses ?? []).flatMap(({ state }) => state?.terminated?.message ?? []),
    )
    return messages.at(-1)?.trim().split('\n').at(-1) ?? `The Job ${job} failed.`
  }

  async function writeStatus({ metadata, status }: Engine, found: ReturnType<typeof findingsOf>): Promise<void> {
    const { phase, nodes, findings } = found
    const { namespace, name, generation } = metadata
    const next = {
      observedGeneration: generation,
      phase,
      ...(nodes !== undefined && { nodes }),
      conditions: conditionsAfter(status?.conditions ?? [], findings, { generation, now: parts.now() }),
    }
    if (isDeepStrictEqual(next, status)) return
    await parts.client.apply(engines.type, { metadata: { namespace, name }, status: next }, { subresource: 'status' })
  }
}
