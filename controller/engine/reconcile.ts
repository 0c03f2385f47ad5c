import { isDeepStrictEqual } from 'node:util'
import type { Client } from '../runtime/client.ts'
import { conditionsAfter, type Finding } from '../runtime/conditions.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { Watched } from '../runtime/watch.ts'
import { type Engine, engines } from './resource.ts'

/** Says of an engine whether it may be used. */
export function createEngineReconcile({
  client,
  watched,
  now,
}: {
  client: Client
  watched: Pick<Watched<KubernetesObject>, 'get'>
  now: () => Date
}) {
  return async (key: string): Promise<undefined> => {
    const found = watched.get(key)
    if (found === undefined || found.metadata.deletionTimestamp !== undefined) return undefined
    const read = engines.read(found)
    if ('problems' in read) return undefined
    const { metadata, status } = read.object
    const findings = findingsOf(read.object)
    const usable = findings.every(({ status: holds }) => holds === 'True')
    const next = {
      observedGeneration: metadata.generation,
      phase: usable ? 'Verified' : 'Pending',
      conditions: conditionsAfter(status?.conditions ?? [], findings, { generation: metadata.generation, now: now() }),
    }
    if (isDeepStrictEqual(next, status)) return undefined
    const { namespace, name } = metadata
    await client.apply(engines.type, { metadata: { namespace, name }, status: next }, { subresource: 'status' })
    return undefined
  }
}

/** The licence gate: without an acknowledgement nothing runs that may not be used commercially. */
function findingsOf({ spec: { license, source } }: Engine): Finding[] {
  const licensed = license.commercialUse || license.acknowledged
  const supported = source.url === undefined
  const refusal = !licensed
    ? `${license.name} does not allow commercial use: set license.acknowledged to use it for what it does allow.`
    : 'Files from a URL are not brought to workers yet: use an image or a volume.'
  const usable = licensed && supported
  return [
    {
      type: 'Licensed',
      status: licensed ? 'True' : 'False',
      reason: license.commercialUse ? 'Commercial' : licensed ? 'Acknowledged' : 'NotAcknowledged',
      message: licensed ? license.name : refusal,
    },
    {
      type: 'Ready',
      status: usable ? 'True' : 'False',
      reason: usable ? 'Usable' : licensed ? 'SourceNotSupported' : 'NotLicensed',
      message: usable ? 'Workers may use it.' : refusal,
    },
  ]
}
