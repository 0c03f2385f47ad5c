import { jobId } from './generation.ts'
import { contentTypeOf, type ObjectStorage } from './storage/object.ts'
import type { Customer } from './stores/customer.ts'
import { bytesOf } from './stores/due-objects.ts'
import type { Generations } from './stores/generations.ts'
import type { IdempotencyKeys } from './stores/idempotency.ts'
import type { ProxyNonces } from './stores/proxy-nonces.ts'
import type { Retention } from './stores/retention.ts'

// Everything here goes in parts, bytes before their rows: killed at any moment, the next call goes on where it ended.

/** Parts small enough for one request to a storage and for a short transaction. */
const PART = 500
/** A batch has up to 500 products with up to 50 images each. */
const BATCHES = 10

export interface Swept {
  readonly products: number
  readonly objects: number
  /** Of these objects together; one of unknown size counts 0. */
  readonly bytes: number
  readonly idempotencyKeys: number
  readonly shareLinks: number
  readonly proxyNonces: number
  readonly dataRequests: number
  readonly webhookDeliveries: number
  readonly erasureMarks: number
  /** Batches of products, with the results of their items. */
  readonly productBatches: number
  /** Days of analytics events. */
  readonly eventDays: number
}

/** Deletes whatever is past its time. Returns how much. Several sweeps may run at once. */
export async function sweep({
  retention,
  keys,
  nonces,
  storage,
  graceSeconds = 0,
  dropEventDays = async () => 0,
}: {
  retention: Retention
  keys: IdempotencyKeys
  nonces: ProxyNonces
  storage: ObjectStorage
  /** Seconds after their expiration time that objects are left to others who delete them. */
  graceSeconds?: number
  /** Drops days of analytics events that are past their time. Returns how many. */
  dropEventDays?: () => Promise<number>
}): Promise<Swept> {
  const products = await untilNone(() => retention.deleteExpiredProducts(PART))
  await retention.releaseOrphans()
  await untilNone(() => retention.deleteEndedListeners(PART))
  await untilNone(() => retention.deleteOldRequests(PART))
  await untilNone(() => retention.deleteOldConsents(PART))
  let bytes = 0
  const objects = await untilNone(async () => {
    const deleted = await retention.deleteExpiredObjects({ limit: PART, graceSeconds }, (expired) =>
      storage.delete(expired),
    )
    bytes += bytesOf(deleted)
    return deleted.length
  })
  return {
    ...{ products, objects, bytes },
    idempotencyKeys: await untilNone(() => keys.deleteOld(PART)),
    shareLinks: await untilNone(() => retention.deleteOldShareLinks(PART)),
    proxyNonces: await untilNone(() => nonces.deleteExpired(PART)),
    dataRequests: await untilNone(() => retention.deleteOldDataRequests(PART)),
    webhookDeliveries: await untilNone(() => retention.deleteOldWebhookDeliveries(PART)),
    erasureMarks: await untilNone(() => retention.deleteOldErasureMarks(PART)),
    productBatches: await untilNone(() => retention.deleteOldProductBatches(BATCHES)),
    eventDays: await dropEventDays(),
  }
}

/**
 * Deletes every image of a customer, given and generated, and cuts the links to them. Generations that are not finished are
 * cancelled and given back. Does nothing for an unknown customer. What a legal hold keeps
 * is moved to a key that no link and no request can read, and deleted by a sweep when the hold ends.
 */
export async function eraseCustomer(customer: Customer, parts: EraseParts): Promise<void> {
  // Calls that were being accepted before a round are found in it; those that a round does not find are refused by its mark.
  const isNew = customer.before === undefined
  let isRecorded = false
  await untilNone(async () => {
    if (isNew) {
      const { isKnown, ...entry } = await parts.retention.markErased(customer)
      // Before anything is deleted: a restored backup must not bring back what only the log knows to be erased.
      if (isKnown && !isRecorded) await parts.recordErasure?.(entry)
      isRecorded ||= isKnown
    }
    return eraseOnce(customer, parts)
  })
}

export interface EraseParts {
  readonly retention: Retention
  readonly generations: Generations
  readonly storage: ObjectStorage
  /** Drops jobs that no worker has taken. */
  readonly queue: { remove(ids: readonly string[]): Promise<void> }
  /** Adds an erasure to the log that survives a restore of the database. */
  readonly recordErasure?: (entry: { customer: string; erasedAt: Date }) => Promise<void>
}

async function eraseOnce(customer: Customer, { retention, generations, storage, queue }: EraseParts): Promise<number> {
  const deleteBytes = (keys: readonly string[]) => storage.delete(keys)
  // First: an upload that is under way finds no consent when its row is not found here.
  const consents = await retention.withdrawConsents(customer)
  // Without images no further generation of theirs can be accepted, without generations no further result is stored.
  const images = await untilNone(() => retention.deleteImages(customer, PART))
  const cancelled = await untilNone(async () => {
    const ended = await generations.failOfCustomer(customer, PART)
    await queue.remove(ended.map(({ id, attempt }) => jobId(id, attempt))).catch(() => {})
    return ended.length
  })
  const objects = await untilNone(() => retention.deleteObjects(customer, { limit: PART, deleteBytes }))
  const held = await untilNone(() => hideHeld(customer, { retention, storage }))
  const links = await untilNone(() => retention.unlinkGenerations(customer, PART))
  const leads = await untilNone(() => retention.deleteLeads(customer, PART))
  const requests = await retention.deleteDataRequests(customer)
  const events = await retention.unlinkEvents(customer)
  return consents + images + cancelled + objects + held + links + leads + requests + events
}

/** Moves held objects out of reach: links that were given stop working, and only the bytes are kept. */
async function hideHeld(
  customer: Customer,
  { retention, storage }: Pick<EraseParts, 'retention' | 'storage'>,
): Promise<number> {
  const keys = await retention.findHeldObjects(customer, PART)
  for (const key of keys) {
    const heldKey = await retention.insertHeldCopy(key)
    if (heldKey === null) continue
    const bytes = await storage.get(key)
    if (bytes !== null) await storage.put(heldKey, bytes, { contentType: contentTypeOf(key) })
    await storage.delete([key])
    await retention.deleteObjectRow(key)
  }
  return keys.length
}

async function untilNone(work: () => Promise<number>): Promise<number> {
  let done = 0
  for (let more = await work(); more > 0; more = await work()) done += more
  return done
}
