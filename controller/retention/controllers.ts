import type { Database } from '../../api/shared/database/database.ts'
import { createDueObjects } from '../../api/shared/retention/due-objects.ts'
import type { ObjectStorage } from '../../api/shared/storage/storage.ts'
import type { Client } from '../runtime/client.ts'
import type { Controller } from '../runtime/controllers.ts'
import type { ReportInvalid } from '../runtime/invalid-object.ts'
import type { Cluster } from '../watching/cluster.ts'
import type { RetentionGauges } from './gauges.ts'
import type { PublishHolds } from './holds.ts'
import { createRetentionReconcile } from './reconcile.ts'
import { createRequestedSweeps } from './requested-sweep.ts'
import type { RetentionPolicy } from './resource.ts'
import { runPolicy } from './run.ts'
import { createWriteRecord } from './run-history.ts'

export interface RetentionControllersParts {
  readonly cluster: Cluster
  readonly client: Client
  readonly reportInvalid: ReportInvalid
  readonly database: Database
  readonly storage: ObjectStorage
  readonly gauges: RetentionGauges
  readonly publishHolds: PublishHolds
  /** The namespace of the release: only its policies run. */
  readonly namespace: string
  readonly now: () => Date
}

/** Run retention policies at their times, and on request. */
export function createRetentionControllers(parts: RetentionControllersParts): readonly Controller[] {
  const { cluster, client, reportInvalid, database, storage, gauges } = parts
  const runs = {
    ...parts,
    policies: cluster.retention,
    run: (policy: RetentionPolicy, signal: AbortSignal) =>
      runPolicy(policy, { dueObjects: createDueObjects(database), storage, signal }),
    writeRecord: createWriteRecord(client),
  }
  const retention = createRetentionReconcile({ ...runs, reportInvalid })
  const requested = createRequestedSweeps({ ...runs, sweeps: cluster.sweeps })
  return [
    {
      kind: 'RetentionPolicy',
      objects: cluster.retention,
      synced: cluster.synced.RetentionPolicy,
      reconcile: retention.reconcile,
      noteChange: (key) => {
        retention.noteChange(key)
        requested.noteChange()
      },
      forgetAll: gauges.forgetAll,
      stop: retention.stopAll,
    },
    {
      kind: 'Sweep',
      objects: cluster.sweeps,
      synced: cluster.synced.Sweep,
      reconcile: requested.reconcile,
      noteChange: requested.noteChange,
      stop: requested.stopAll,
    },
  ]
}
