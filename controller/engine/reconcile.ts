import { isDeepStrictEqual } from 'node:util'
import { readValid } from '../definitions/custom-resource.ts'
import type { Client } from '../runtime/client.ts'
import { conditionsAfter } from '../runtime/conditions.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { type WorkerPool, workerPools } from '../worker-pool/resource.ts'
import type { Pod } from '../worker-pool/workers/pods.ts'
import { readChecks } from './checks.ts'
import { findingsOf } from './findings.ts'
import { type Engine, engines } from './resource.ts'

export interface EngineParts {
  readonly client: Client
  readonly reportInvalid: ReportInvalid
  readonly engines: Pick<Watched<KubernetesObject>, 'get'>
  readonly pools: Pick<Watched<KubernetesObject & { spec?: { engines?: readonly string[] } }>, 'list'>
  readonly podsOf: (pool: WorkerPool) => readonly Pod[]
  readonly now: () => Date
}

/** Reports whether workers may use the engine. */
export function createEngineReconcile(parts: EngineParts) {
  return async (key: string): Promise<undefined> => {
    const found = parts.engines.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
    const read = engines.read(found)
    if ('problems' in read) {
      await parts.reportInvalid(engines.type, found, read.problems)
      return undefined
    }
    const engine = read.object
    const pods = poolsOf(engine).flatMap(parts.podsOf)
    await writeStatus(engine, findingsOf({ engine, checks: readChecks(engine.metadata.name, pods) }))
    return undefined
  }

  function poolsOf({ metadata }: Engine): WorkerPool[] {
    return parts.pools
      .list()
      .filter((pool) => pool.metadata.namespace === metadata.namespace && pool.spec?.engines?.includes(metadata.name))
      .flatMap((pool) => readValid(workerPools, pool) ?? [])
      .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
  }

  async function writeStatus({ metadata, status }: Engine, found: ReturnType<typeof findingsOf>): Promise<void> {
    const { phase, findings } = found
    const { namespace, name, generation } = metadata
    const next = {
      observedGeneration: generation,
      phase,
      conditions: conditionsAfter(status?.conditions ?? [], findings, { generation, now: parts.now() }),
    }
    if (isDeepStrictEqual(next, status)) return
    await parts.client.apply(engines.type, { metadata: { namespace, name }, status: next }, { subresource: 'status' })
  }
}
