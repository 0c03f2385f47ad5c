import type { LegalHolds } from '../../api/shared/retention/legal-holds.store.ts'
import { type RecordEvent, warning } from '../runtime/events.ts'
import type { KubernetesObject } from '../runtime/resource.ts'
import type { RetentionGauges } from './gauges.ts'
import { holdsOf } from './policies.ts'
import { retentionPolicies } from './resource.ts'

/** Publishes the holds of all policies to the database. Returns the policies whose holds have never been read, as `namespace/name`. */
export type PublishHolds = () => Promise<readonly string[]>

/** Every deletion in the cluster starts with a publication, so that a hold applies to runs, sweeps and erasures alike. */
export function createPublishHolds({
  legalHolds,
  policies,
  record,
  gauges,
}: {
  legalHolds: LegalHolds
  /** The policies in the release's namespace. */
  policies: () => readonly KubernetesObject[]
  record: RecordEvent
  gauges: Pick<RetentionGauges, 'noteHolds'>
}): PublishHolds {
  let last: Promise<unknown> = Promise.resolve()
  const publish = async () => {
    const published = await legalHolds.publish('kubernetes', policies().map(holdsOf))
    gauges.noteHolds(published)
    for (const key of published.ended) {
      const [namespace, name] = key.split('/')
      const { group, version, kind } = retentionPolicies.type
      const gone = { apiVersion: `${group}/${version}`, kind, metadata: { namespace, name } } as KubernetesObject
      await record(gone, warning('HoldsEnded', 'The policy was deleted, and its legal holds ended with it.'))
    }
    return published.unread
  }
  return () => {
    // Sequentially: an earlier publication must not overwrite a later one.
    const next = last.then(publish, publish)
    last = next.catch(() => {})
    return next
  }
}
