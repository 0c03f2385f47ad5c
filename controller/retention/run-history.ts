import type { Client } from '../runtime/client.ts'
import { ownedBy } from '../runtime/resource.ts'
import { type RetentionPolicy, type Sweep, sweeps } from './resource.ts'
import type { RunReport } from './run.ts'

/** Max records per policy. */
const MAX_RECORDS = 50
const POLICY_LABEL = 'drape.dev/policy'

export type WriteRecord = ReturnType<typeof createWriteRecord>

/**
 * Writes the record of a run as the Sweep `name`, which may already exist as the request for the run, and deletes the oldest records of the
 * policy. Returns the written Sweep.
 */
export function createWriteRecord(client: Pick<Client, 'apply' | 'list' | 'delete'>) {
  return async (policy: RetentionPolicy, name: string, { record }: RunReport): Promise<Pick<Sweep, 'metadata'>> => {
    const { namespace, name: policyName } = policy.metadata
    const labels = { [POLICY_LABEL]: policyName }
    const metadata = { namespace, name, labels, ownerReferences: [ownedBy(policy)] }
    const written = await client.apply<Sweep>(sweeps.type, { metadata, spec: record })
    const selector = { namespace, labelSelector: `${POLICY_LABEL}=${policyName}` }
    const records = (await client.list<Sweep>(sweeps.type, selector)).filter(({ spec }) => spec.startedAt !== undefined)
    for (const old of records.sort(byStart).slice(0, -MAX_RECORDS))
      await client.delete(sweeps.type, { namespace, name: old.metadata.name })
    return written
  }
}

function byStart({ spec: { startedAt: one = '' } }: Sweep, { spec: { startedAt: other = '' } }: Sweep): number {
  return one < other ? -1 : one > other ? 1 : 0
}
