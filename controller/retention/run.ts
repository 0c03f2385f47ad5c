import { createHash } from 'node:crypto'
import {
  bytesOf,
  type DeletedBatch,
  type DueCursor,
  type DueObject,
  type DueObjects,
  type DueSelection,
} from '../../api/shared/retention/due-objects.ts'
import type { ObjectStorage } from '../../api/shared/storage/object.ts'
import { wholeSeconds } from '../runtime/conditions.ts'
import type { RetentionPolicy, SweepRecord } from './resource.ts'

/** Result of a run: the deleted and the remaining images. */
export interface RunReport {
  readonly record: SweepRecord
  readonly overdue: number
  readonly oldestOverdueSeconds: number
}

/**
 * Runs a policy once, in batches. Deletes bytes before rows, so that the next run can resume after a crash. Ends early, with a
 * report, on an abort or an error.
 */
export async function runPolicy(
  { metadata, spec }: Pick<RetentionPolicy, 'metadata' | 'spec'>,
  { dueObjects, storage, signal }: { dueObjects: DueObjects; storage: ObjectStorage; signal: AbortSignal },
): Promise<RunReport> {
  const startedAt = new Date()
  const selection = selectionOf(spec)
  const objects: DueObject[] = []
  let error: string | undefined
  try {
    if (spec.dryRun) objects.push(...(await dueObjects.find(selection, spec.maxDeletesPerRun)))
    else await deleteAll({ spec, selection, dueObjects, storage, signal, objects })
  } catch (cause) {
    error = (cause instanceof Error ? cause.message : String(cause)).slice(0, 1024)
  }
  const { due, held, oldestSeconds } = await dueObjects.measure(selection)
  const record = {
    policy: metadata.name,
    dryRun: spec.dryRun,
    startedAt: wholeSeconds(startedAt),
    durationMs: Date.now() - startedAt.getTime(),
    objects: objects.length,
    bytes: bytesOf(objects),
    unsized: objects.filter(({ bytes }) => bytes === null).length,
    held,
    keysDigest: digestOf(objects.map(({ key }) => key)),
    ...(error !== undefined && { error }),
  }
  return { record, overdue: due, oldestOverdueSeconds: Math.max(0, Math.floor(oldestSeconds ?? 0)) }
}

/** The selection of images that a policy applies to. */
export function selectionOf({ ttlSeconds, selector }: RetentionPolicy['spec']): DueSelection {
  return { ttlSeconds: ttlSeconds ?? null, kinds: selector.kinds, accounts: selector.accounts }
}

async function deleteAll({
  spec,
  selection,
  dueObjects,
  storage,
  signal,
  objects,
}: {
  spec: RetentionPolicy['spec']
  selection: DueSelection
  dueObjects: DueObjects
  storage: ObjectStorage
  signal: AbortSignal
  objects: DueObject[]
}): Promise<void> {
  const deleteBytes = (batch: readonly string[]) => storage.delete(batch)
  let refusedCount = 0
  let after: DueCursor | null = null
  let isDone = false
  while (!isDone && !signal.aborted && objects.length < spec.maxDeletesPerRun) {
    const limit = Math.min(spec.batchSize, spec.maxDeletesPerRun - objects.length)
    const { deleted, refused, last }: DeletedBatch = await dueObjects.delete(selection, { limit, after, deleteBytes })
    objects.push(...deleted)
    refusedCount += refused
    after = last
    isDone = last === null
  }
  if (!isDone && signal.aborted) throw new Error('The run was stopped.')
  if (refusedCount > 0)
    throw new Error(`The storage refused to delete ${refusedCount} objects. The next run retries them.`)
}

function digestOf(keys: readonly string[]): string {
  const hash = createHash('sha256')
  for (const key of [...keys].sort()) hash.update(`${key}\n`)
  return `sha256:${hash.digest('hex')}`
}
