import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../runtime/client.ts'
import { conditionsAfter, progressFindings } from '../runtime/conditions.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { unknownZoneOf } from '../worker-pool/scaling/schedule.ts'
import { scalingPolicies } from './resource.ts'

interface NamingPolicy extends KubernetesObject {
  readonly spec?: { readonly scaling?: { readonly policyRef?: { readonly name?: string } } }
}

/** Records in a policy's status the number of pools that refer to it. */
export function createPolicyReconcile({
  client,
  reportInvalid,
  policies,
  pools,
  now,
}: {
  client: Client
  reportInvalid: ReportInvalid
  policies: Pick<Watched<KubernetesObject>, 'get'>
  pools: Pick<Watched<NamingPolicy>, 'list'>
  now: () => Date
}) {
  return async (key: string) => {
    const found = policies.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
    const read = scalingPolicies.read(found)
    if ('problems' in read) return void (await reportInvalid(scalingPolicies.type, found, read.problems))
    const { metadata, status } = read.object
    const { namespace, name, generation } = metadata
    const naming = pools
      .list()
      .filter((pool) => pool.metadata.namespace === namespace && pool.spec?.scaling?.policyRef?.name === name)
    const unknown = unknownZoneOf(read.object.spec)
    const used = naming.length > 0 ? 'InUse' : 'NotInUse'
    const ready = unknown
      ? ({ status: 'False', reason: 'UnknownTimeZone', message: unknown } as const)
      : ({ status: 'True', reason: used, message: `${naming.length} pools name it.` } as const)
    const next = {
      observedGeneration: generation,
      pools: naming.length,
      conditions: conditionsAfter(
        status?.conditions ?? [],
        [
          { type: 'Ready', ...ready },
          ...progressFindings(unknown ? 'Stalled' : 'Settled', ready.reason, ready.message),
        ],
        { generation, now: now() },
      ),
    }
    if (!isDeepStrictEqual(next, status))
      await client.apply(
        scalingPolicies.type,
        { metadata: { namespace, name }, status: next },
        { subresource: 'status' },
      )
    return { againMs: 60_000 }
  }
}
