import { jobId, type TryOnJob } from './generation.ts'
import type { JobQueue } from './queue.ts'
import type { ObjectStorage } from './storage/object.ts'
import { bytesOf, type Hold } from './stores/due-objects.ts'
import type { Generations } from './stores/generations.ts'
import type { IdempotencyKeys } from './stores/idempotency.ts'
import type { ProxyNonces } from './stores/proxy-nonces.ts'
import type { Customer, Retention } from './stores/retention.ts'

// Everything here goes in parts, bytes before their rows: killed at any moment, the next call goes on where it ended.

/** Parts small enough for one request to a storage and for a short transaction. */
const PART = 500

export interface Swept {
  readonly products: number
  readonly objects: number
  /** Of these objects together; one whose size nobody knows counts nothing. */
  readonly bytes: number
  readonly idempotencyKeys: number
  readonly shareLinks: number
  readonly proxyNonces: number
  readonly dataRequests: number
  readonly webhookDeliveries: number
  /** Days of analytics events. */
  readonly eventDays: number
}

/** Deletes whatever is past its time. Returns how much. Several sweeps may run at once. */
export async function sweep({
  retention,
  keys,
  nonces,
  storage,
  dropEventDays = async () => 0,
  holds = [],
}: {
  retention: Retention
  keys: IdempotencyKeys
  nonces: ProxyNonces
  storage: ObjectStorage
  /** Drops days of analytics events that are past their time. Returns how many. */
  dropEventDays?: () => Promise<number>
  /** Whose objects are kept all the same. */
  holds?: readonly Hold[]
}): Promise<Swept> {
  const products = await untilNone(() => retention.deleteExpiredProducts(PART))
  await retention.releaseOrphans()
  let bytes = 0
  const objects = await untilNone(async () => {
    const deleted = await retention.deleteExpiredObjects(PART, (expired) => storage.delete(expired), holds)
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
    eventDays: await dropEventDays(),
  }
}

/**
 * Deletes every image of a customer, given and generated, and cuts the links to them. Generations that are not finished are
 * cancelled and given back. Does nothing for a customer whom nobody knows.
 */
export async function eraseCustomer(customer: Customer, parts: EraseParts): Promise<void> {
  // A call that was being accepted meanwhile is found in the next round.
  await untilNone(() => eraseOnce(customer, parts))
}

export interface EraseParts {
  readonly retention: Retention
  readonly generations: Generations
  readonly storage: ObjectStorage
  readonly queue: JobQueue<TryOnJob>
}

async function eraseOnce(customer: Customer, { retention, generations, storage, queue }: EraseParts): Promise<number> {
  // Without images no further generation of theirs can be accepted, without generations no further result is stored.
  const images = await untilNone(() => retention.deleteImages(customer, PART))
  const cancelled = await untilNone(async () => {
    const ended = await generations.failOfCustomer(customer, PART)
    await queue.remove(ended.map(({ id, attempt }) => jobId(id, attempt))).catch(() => {})
    return ended.length
  })
  const objects = await untilNone(async () => {
    const keys = await retention.findObjects(customer, PART)
    await storage.delete(keys)
    await retention.deleteObjects(keys)
    return keys.length
  })
  const links = await untilNone(() => retention.unlinkGenerations(customer, PART))
  return images + cancelled + objects + links
}

async function untilNone(work: () => Promise<number>): Promise<number> {
  let done = 0
  for (let more = await work(); more > 0; more = await work()) done += more
  return done
}
