import { jobId, prepareJobId } from '../generations/generation.ts'
import type { Generations } from '../generations/generations.store.ts'
import type { JobQueue } from '../queue/queue.ts'
import { contentTypeOf, deleteUnlessRefused, type ObjectStorage } from '../storage/object.ts'
import type { Customer } from './customer.ts'
import { bytesOf, type DueCursor } from './due-objects.ts'
import type { OldRowsName } from './lifetimes.ts'
import type { Retention } from './retention.store.ts'

// Everything here deletes in batches, bytes before their rows: after a crash the next call continues.

/** Small enough for one storage request and for a short transaction. */
const BATCH_SIZE = 500
/** Number of the oldest objects, refused with none deleted, after which the youngest show whether the storage refuses the whole bucket. */
const MAX_REFUSED_AT_FIRST = 1500
/** Few, because a server that refuses a whole request because of one object is asked for each half again. */
const PROBE_SIZE = 10
/** A batch has up to 500 products with up to 50 images each. */
const BATCHES = 10

export interface Swept {
  readonly products: number
  readonly objects: number
  /** Total size of these objects; unknown sizes count as 0. */
  readonly bytes: number
  /** Expired objects that the storage refused to delete, for example under a retention lock. The next sweep retries them. */
  readonly refusedObjects: number
  readonly idempotencyKeys: number
  readonly shareLinks: number
  readonly proxyNonces: number
  readonly dataRequests: number
  readonly webhookDeliveries: number
  readonly erasureMarks: number
  /** Receipts of erasures. */
  readonly erasures: number
  /** Product batches with their results. */
  readonly productBatches: number
  /** Days of analytics events. */
  readonly eventDays: number
}

/** Deletes everything that has expired. Returns the counts. Safe to run concurrently. */
export async function sweep({
  retention,
  storage,
  graceSeconds = 0,
  dropEventDays = async () => 0,
}: {
  retention: Retention
  storage: ObjectStorage
  /** Seconds after expiry during which only other deleters act on an object. */
  graceSeconds?: number
  /** Drops expired days of analytics events. Returns the count. */
  dropEventDays?: () => Promise<number>
}): Promise<Swept> {
  const deleteOld = (name: OldRowsName, limit = BATCH_SIZE) => untilNone(() => retention.deleteOld(name, limit))
  const products = await untilNone(() => retention.deleteExpiredProducts(BATCH_SIZE))
  await retention.releaseOrphans()
  await untilNone(() => retention.deleteEndedListeners(BATCH_SIZE))
  await untilNone(() => retention.deleteOldReviews(BATCH_SIZE))
  await retention.deleteEndedBlocks()
  for (const name of ['requests', 'consents', 'removals'] as const) await deleteOld(name)
  return {
    products,
    ...(await sweepObjects({ retention, storage, graceSeconds })),
    idempotencyKeys: await deleteOld('idempotencyKeys'),
    shareLinks: await deleteOld('shareLinks'),
    proxyNonces: await deleteOld('proxyNonces'),
    dataRequests: await deleteOld('dataRequests'),
    webhookDeliveries: await deleteOld('webhookDeliveries'),
    erasureMarks: await deleteOld('erasureMarks'),
    erasures: await untilNone(() => retention.deleteOldErasures(BATCH_SIZE)),
    productBatches: await deleteOld('productBatches', BATCHES),
    eventDays: await dropEventDays(),
  }
}

/** Deletes expired objects, and passes over those that the storage refuses to delete. */
async function sweepObjects({
  retention,
  storage,
  graceSeconds,
}: {
  retention: Retention
  storage: ObjectStorage
  graceSeconds: number
}): Promise<Pick<Swept, 'objects' | 'bytes' | 'refusedObjects'>> {
  const swept = { objects: 0, bytes: 0, refusedObjects: 0 }
  const deleteBatch = async (batch: { limit?: number; after?: DueCursor | null; youngest?: boolean }) => {
    const selected = { limit: BATCH_SIZE, graceSeconds, ...batch }
    const { deleted, refused, last } = await retention.deleteExpiredObjects(selected, (keys) => storage.delete(keys))
    swept.objects += deleted.length
    swept.bytes += bytesOf(deleted)
    return { refused, last }
  }
  for (let after: DueCursor | null = null; ; ) {
    const { refused, last } = await deleteBatch({ after })
    swept.refusedObjects += refused
    if (last === null) return swept
    if (swept.objects === 0 && swept.refusedObjects >= MAX_REFUSED_AT_FIRST) {
      await deleteBatch({ limit: PROBE_SIZE, youngest: true })
      if (swept.objects === 0) return swept
    }
    after = last
  }
}

/**
 * Deletes every uploaded and generated image of a customer and revokes their links. Cancels and refunds unfinished
 * generations. Does nothing for an unknown customer. Objects under a legal hold move to a key that no link and no
 * request can read; a sweep deletes them when the hold ends.
 */
export async function eraseCustomer(customer: Customer, parts: EraseParts): Promise<void> {
  // A round finds calls that were being accepted before it; its mark refuses all later calls.
  const isNew = customer.before === undefined
  let isRecorded = false
  await untilNone(async () => {
    if (isNew) {
      const { isKnown, erasedAt, customer: hash, consents } = await parts.retention.markErased(customer)
      // Record before deleting: after a restore of the database only this log knows who was erased. Of consents it has only
      // hashes, so that they are found by their own entries. That of the customer is the last, on which the receipt waits.
      const hashes = isKnown && !isRecorded ? [...consents.filter((other) => other !== hash), hash] : []
      for (const entry of hashes) await parts.recordErasure?.({ customer: entry, erasedAt })
      isRecorded ||= isKnown
    }
    return eraseOnce(customer, parts)
  })
}

export interface EraseParts {
  readonly retention: Retention
  readonly generations: Generations
  readonly storage: ObjectStorage
  /** Drop jobs that no worker has taken. */
  readonly queue: Pick<JobQueue<unknown>, 'remove'>
  readonly prepareQueue: Pick<JobQueue<unknown>, 'remove'>
  /** Adds an erasure to the log that survives a restore of the database. */
  readonly recordErasure?: (entry: { customer: string; erasedAt: Date }) => Promise<void>
}

async function eraseOnce(
  customer: Customer,
  { retention, generations, storage, queue, prepareQueue }: EraseParts,
): Promise<number> {
  const deleteBytes = (keys: readonly string[]) => storage.delete(keys)
  // First, so that a running upload finds no consent when this query does not find the upload's row.
  const consents = await retention.withdrawConsents(customer)
  // Without images no further generation is accepted; without generations no further result is stored.
  const images = await untilNone(async () => {
    const ids = await retention.deleteImages(customer, BATCH_SIZE)
    await prepareQueue.remove(ids.map(prepareJobId)).catch(() => {})
    return ids.length
  })
  const cancelled = await untilNone(async () => {
    const ended = await generations.failOfCustomer(customer, BATCH_SIZE)
    await queue.remove(ended.map(({ id, attempt }) => jobId(id, attempt))).catch(() => {})
    return ended.length
  })
  const objects = await untilNone(() => retention.deleteObjects(customer, { limit: BATCH_SIZE, deleteBytes }))
  const held = await untilNone(() => hideHeld(customer, { retention, storage }))
  const links = await untilNone(() => retention.unlinkGenerations(customer, BATCH_SIZE))
  const leads = await untilNone(() => retention.deleteLeads(customer, BATCH_SIZE))
  const requests = await retention.deleteDataRequests(customer)
  const events = await retention.anonymiseEvents(customer)
  return consents + images + cancelled + objects + held + links + leads + requests + events
}

/** Moves held objects to another key: existing links stop working, and only the bytes are kept. */
async function hideHeld(
  customer: Customer,
  { retention, storage }: Pick<EraseParts, 'retention' | 'storage'>,
): Promise<number> {
  const keys = await retention.findHeldObjects(customer, BATCH_SIZE)
  for (const key of keys) {
    const heldKey = await retention.insertHeldCopy(key)
    if (heldKey === null) continue
    const bytes = await storage.get(key)
    if (bytes !== null) await storage.put(heldKey, bytes, { contentType: contentTypeOf(key) })
    const refused = await deleteUnlessRefused([key], (keys) => storage.delete(keys))
    if (refused.size > 0) await retention.expireRefused(customer, [...refused])
    else await retention.deleteObjectRow(customer, key)
  }
  return keys.length
}

async function untilNone(work: () => Promise<number>): Promise<number> {
  let done = 0
  for (let more = await work(); more > 0; more = await work()) done += more
  return done
}
