import { acceptGeneration } from '../../api/generations/acceptance.store.ts'
import { createSafetyRefusals } from '../../api/generations/safety-refusals.store.ts'
import type { ErrorCode, SafetyCheck } from '../../api/shared/contract/errors.ts'
import { type Database, sql, withinTransaction } from '../../api/shared/database/database.ts'
import { createGenerations } from '../../api/shared/generations/generations.store.ts'
import { type Caller, callOf } from './accepted.ts'

/** A generation of the caller whose photo a safety check refused, as a worker records it. `code`: why it failed in the end. */
export async function refuseGeneration(
  database: Database,
  caller: Caller,
  {
    check = 'nudity',
    code = 'NUDITY_DETECTED',
    externalUserId = null,
    shopId = null,
  }: { check?: SafetyCheck; code?: ErrorCode; externalUserId?: string | null; shopId?: string | null } = {},
): Promise<string> {
  const call = callOf(caller, { externalUserId })
  const attempt = { id: call.generationId, attempt: 1 }
  const hashes = (digit: string) => [{ hash: digit.repeat(64), mirrored: digit.repeat(64) }]
  const digest = '0'.repeat(64)
  const pair = { person: hashes('a'), product: hashes('5'), digests: [digest, digest] } as const
  // At once, so that no real worker starts the generation first.
  await database.transaction(async (transaction) => {
    const within = withinTransaction(database, transaction)
    const generations = createGenerations(within)
    await acceptGeneration(within, call)
    await within.query(sql.unsafe`update generations set shop_id = ${shopId} where id = ${call.generationId}`)
    await generations.start({ ...attempt, worker: 'worker' })
    await createSafetyRefusals(within).insert({ ...attempt, check, image: 'person', pair })
    await generations.fail({ ...attempt, code, message: 'The photo shows nudity.' })
  })
  return call.generationId
}
