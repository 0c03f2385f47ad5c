import type { DueErasure } from '../../erasure/erasures.store.ts'
import type { Statement } from '../../erasure/receipt.ts'
import type { Facts } from './sign.ts'

interface Found {
  readonly erasure: DueErasure
  readonly byKind: Readonly<Record<string, number>>
  readonly bytes: number
  readonly rows: Readonly<Record<string, number>>
  readonly cancelledJobs: number
  /** Webhooks that still name the end user. */
  readonly webhooks: number
  /** Erased objects of which the storage keeps versions; null: unknown. */
  readonly versioned: number | null
  readonly installation: string
}

/** Statement of a receipt, when all confirmations are complete. */
export function presentFacts(found: Found): Facts {
  const { erasure, byKind, bytes, rows, cancelledJobs, versioned, installation } = found
  const confirmedAt = erasure.checkedAt.toISOString()
  const confirmations: Statement['confirmations'] = [
    {
      place: 'database',
      confirmedAt: erasure.erasedAt.toISOString(),
      how: 'Queries for the end user found no image, object, link, lead or event.',
    },
    {
      place: 'objectStorage',
      confirmedAt,
      how: `After the deletion, the storage was asked for each object and had none, except objects under a legal hold.${
        versioned === null ? ' It does not say whether it keeps earlier versions.' : ''
      }`,
    },
    { place: 'workers', confirmedAt, how: 'No worker holds a job of the end user; cancelled jobs stored no result.' },
    { place: 'caches', confirmedAt, how: 'Every cache entry and counter from before the erasure has expired.' },
    ...(erasure.logKey === null
      ? []
      : [
          {
            place: 'erasureLog' as const,
            confirmedAt,
            how: 'The entry is in the erasure log, which is applied again after a backup is restored.',
          },
        ]),
  ]
  return {
    id: erasure.id,
    installation,
    account: erasure.accountId,
    customer: erasure.customer,
    requestedAt: erasure.requestedAt.toISOString(),
    erasedAt: erasure.erasedAt.toISOString(),
    issuedAt: confirmedAt,
    objects: { bytes, byKind },
    rows,
    cancelledJobs,
    confirmations,
    kept: findKept(found),
  }
}

function findKept({ erasure, rows, webhooks, versioned }: Found): Statement['kept'] {
  const { heldObjects } = erasure
  const { generations = 0, consents = 0 } = rows
  return [
    {
      what: 'objects',
      count: heldObjects,
      reason: 'A legal hold of a RetentionPolicy. No request reads them; they are deleted when the hold ends.',
    },
    {
      what: 'objectVersions',
      count: versioned ?? 0,
      reason:
        'Earlier versions of erased objects, which no request reads. The bucket keeps them until a lifecycle rule deletes them, and those under a lock at least until the lock ends.',
    },
    {
      what: 'generations',
      count: generations,
      reason: 'Records of try-ons without a link to the end user, to a photo or to a result.',
    },
    {
      what: 'credits',
      count: generations,
      reason: 'Financial records of these try-ons (table ledger), which name the account but not the end user.',
    },
    {
      what: 'consents',
      count: consents,
      reason: 'Proof that the end user agreed to a policy and withdrew, under a hash of the ID, for 3 years.',
    },
    {
      what: 'webhooks',
      count: webhooks,
      reason: 'Webhooks customer.erased with the externalUserId, until they are delivered, at most 14 days.',
    },
  ].filter(({ count }) => count > 0)
}
