import type { Confirmation, DueErasure, Erasures } from '../../erasure/erasures.store.ts'
import type { Receipt } from '../../erasure/receipt.ts'
import type { KeyPair } from '../../shared/provenance/private-key.ts'
import { type OutboxConsumer, startOutboxConsumer } from '../../shared/queue/outbox-consumer.ts'
import type { ObjectStorage } from '../../shared/storage/object.ts'
import type { Log } from '../../shared/telemetry/log.ts'
import type { ReceiptKeys } from './receipt-keys.store.ts'
import { presentKey, signReceipt } from './sign.ts'
import { presentFacts } from './statement.ts'

export interface IssueOptions {
  readonly erasures: Erasures
  readonly storage: Pick<ObjectStorage, 'exists' | 'countVersioned'>
  /** Drops attempts that no worker has taken, and returns those that one still holds. */
  readonly dropJobs: (jobs: readonly { readonly id: string; readonly attempt: number }[]) => Promise<number>
  readonly key: KeyPair
  readonly receiptKeys: Pick<ReceiptKeys, 'note'>
  /** Address of the installation. */
  readonly installation: string
  readonly log: Log
}

/** Far exceeds the time that confirming a page of objects takes. */
const LEASE_SECONDS = 120
const IDLE_MS = 1000
const FAILURE_MS = 3000
const CONCURRENCY = 4
const PAGE = 500
/** Maximum concurrent storage requests per erasure. */
const STORAGE_CONCURRENCY = 16

const SOON_SECONDS = 2
const LATER_SECONDS = 30

/** A missing confirmation, and the seconds until the next check. */
interface Open {
  readonly waitsFor: Confirmation
  readonly seconds: number
}

/**
 * Issues receipts of erasures, each when all confirmations are complete. Any number of processes may run concurrently; each claims different erasures. While the
 * storage, Redis or the database cannot be reached, nothing is issued.
 */
export function startIssuing(options: IssueOptions): OutboxConsumer {
  const { erasures, log } = options
  const publishKey = createPublishKey(options)
  return startOutboxConsumer({
    name: 'erasure receipt',
    log,
    concurrency: CONCURRENCY,
    idleMs: IDLE_MS,
    failureMs: FAILURE_MS,
    claim: async ({ limit }) => {
      await publishKey()
      return { items: await erasures.claimDue({ limit, leaseSeconds: LEASE_SECONDS }) }
    },
    handle: async (erasure) => confirm(erasure, options),
  })
}

/** Publishes the key before its first use: a receipt signed by an unknown key cannot be verified. */
function createPublishKey({ key, receiptKeys }: IssueOptions): () => Promise<void> {
  let isPublished = false
  return async () => {
    if (isPublished) return
    await receiptKeys.note(presentKey(key))
    isPublished = true
  }
}

async function confirm(erasure: DueErasure, options: IssueOptions): Promise<void> {
  const { erasures, log } = options
  const { id } = erasure
  const open =
    (await findRunningJobs(erasure, options)) ??
    (erasure.cachedSeconds > 0 ? { waitsFor: 'caches' as const, seconds: erasure.cachedSeconds } : null) ??
    (await findLateUploads(erasure, options)) ??
    (await findUnlogged(erasure, options))
  if (open !== null) return erasures.postpone(id, open)
  const { keys, byKind, bytes, left, versioned } = await readObjects(erasure, options)
  if (left > 0) {
    log.error({ erasureId: id, objects: left }, 'erased objects are still in the storage: the next sweep deletes them')
    return erasures.postpone(id, { waitsFor: 'storage', seconds: LATER_SECONDS })
  }
  const rows = await erasures.sumRows(id)
  const { length: cancelledJobs } = await erasures.findJobs(id)
  const webhooks = await erasures.countWebhooks(id)
  const facts = presentFacts({
    erasure,
    byKind,
    bytes,
    rows,
    cancelledJobs,
    webhooks,
    versioned,
    installation: options.installation,
  })
  const { leaves, ...receipt }: Receipt = signReceipt(facts, keys, options.key)
  if (await erasures.issue(erasure, { receipt, leaves: leaves.join('') })) log.info({ erasureId: id }, 'receipt issued')
}

/** A worker holds the lock of its job until it has dropped the photo and stored nothing. */
async function findRunningJobs({ id }: DueErasure, { erasures, dropJobs }: IssueOptions): Promise<Open | null> {
  const running = await dropJobs(await erasures.findJobs(id))
  return running > 0 ? { waitsFor: 'workers', seconds: SOON_SECONDS } : null
}

/** A put that began before the erasure may end after it. */
async function findLateUploads({ id }: DueErasure, { erasures }: IssueOptions): Promise<Open | null> {
  const seconds = await erasures.findArrivalSeconds(id)
  return seconds > 0 ? { waitsFor: 'uploads', seconds: seconds + 1 } : null
}

async function findUnlogged({ logKey }: DueErasure, { storage }: IssueOptions): Promise<Open | null> {
  if (logKey === null || (await storage.exists(logKey))) return null
  return { waitsFor: 'erasureLog', seconds: LATER_SECONDS }
}

/** What was erased, after the storage was asked for each object. Those that it still has are left to a sweep. */
async function readObjects({ id }: DueErasure, { erasures, storage }: IssueOptions) {
  const keys: string[] = []
  const byKind: Record<string, number> = {}
  let [bytes, left] = [0, 0]
  let versioned: number | null = 0
  for (;;) {
    const page = await erasures.findObjects(id, { after: keys.at(-1) ?? '', limit: PAGE })
    if (page.length === 0) return { keys, byKind, bytes, left, versioned }
    const names = page.map(({ key }) => key)
    const there = await findStored(names, storage)
    const more: number | null = versioned === null ? null : await storage.countVersioned(names)
    versioned = versioned === null || more === null ? null : versioned + more
    if (there.length > 0) await erasures.expireAgain(id, there)
    left += there.length
    for (const object of page) {
      keys.push(object.key)
      byKind[object.kind] = (byKind[object.kind] ?? 0) + 1
      bytes += object.bytes ?? 0
    }
  }
}

async function findStored(keys: readonly string[], storage: IssueOptions['storage']): Promise<string[]> {
  const stored: string[] = []
  for (let i = 0; i < keys.length; i += STORAGE_CONCURRENCY) {
    const part = keys.slice(i, i + STORAGE_CONCURRENCY)
    const answers = await Promise.all(part.map((key) => storage.exists(key)))
    stored.push(...part.filter((_, index) => answers[index]))
  }
  return stored
}
