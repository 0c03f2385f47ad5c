import { type OutboxConsumer, startOutboxConsumer } from '../../shared/queue/outbox-consumer.ts'
import type { Customer } from '../../shared/retention/customer.ts'
import type { Log } from '../../shared/telemetry/log.ts'
import { removalCustomer } from './removal-candidates.store.ts'
import type { Removals } from './removals.store.ts'

const LEASE_SECONDS = 120
const IDLE_MS = 2000
const FAILURE_MS = 5000

/**
 * Erases the images of requests that operators granted, as those of an end user: bytes, caches, jobs, with a signed receipt. A
 * failed erasure is repeated when its lease has expired.
 */
export function startRemovals({
  removals,
  erase,
  log,
}: {
  readonly removals: Removals
  /** Returns the ID of the erasure. */
  readonly erase: (customer: Customer) => Promise<string>
  readonly log: Log
}): OutboxConsumer {
  return startOutboxConsumer({
    name: 'removal',
    log,
    concurrency: 1,
    idleMs: IDLE_MS,
    failureMs: FAILURE_MS,
    claim: async ({ limit }) => ({ items: await removals.claimErasing({ limit, leaseSeconds: LEASE_SECONDS }) }),
    handle: async ({ id, accounts }) => {
      for (const accountId of accounts) {
        const erasureId = await erase({ accountId, externalUserId: removalCustomer(id) })
        await removals.noteErasure(id, { accountId, erasureId })
      }
      await removals.finish(id)
    },
  })
}
