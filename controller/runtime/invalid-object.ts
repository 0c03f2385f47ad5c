import { isDeepStrictEqual } from 'node:util'
import type { Client } from './client.ts'
import { type Condition, conditionsAfter, progressFindings } from './conditions.ts'
import type { RecordEvent } from './events.ts'
import type { KubernetesObject, ResourceType } from './resource.ts'

const REASON = 'InvalidSpec'

/** Reports an invalid object, which an older or looser definition accepted, in its conditions and in an event. */
export type ReportInvalid = (type: ResourceType, found: KubernetesObject, problems: string) => Promise<void>

export function createReportInvalid({
  client,
  record,
  now,
}: {
  client: Client
  record: RecordEvent
  now: () => Date
}): ReportInvalid {
  return async (type, found, problems) => {
    const { namespace, name, generation = 0 } = found.metadata
    const { status = {} } = found as { status?: { conditions?: readonly Condition[] } }
    const findings = [
      { type: 'Ready', status: 'False' as const, reason: REASON, message: problems },
      ...progressFindings('Stalled', REASON, problems),
    ]
    const next = {
      ...status,
      observedGeneration: generation,
      conditions: conditionsAfter(status.conditions ?? [], findings, { generation, now: now() }),
    }
    if (!isDeepStrictEqual(next, status))
      await client.apply(type, { metadata: { namespace, name }, status: next }, { subresource: 'status' })
    await record(found, { type: 'Warning', reason: REASON, message: problems })
  }
}
