import type { Log } from '../../shared/telemetry/log.ts'
import type { VisitorAddresses } from '../../shops/visitor-addresses.store.ts'
import type { Leads } from '../leads/leads.store.ts'

const HOUR_MS = 3_600_000
const BATCH_SIZE = 1000

export interface ShopperRetentionOptions {
  readonly leads: Pick<Leads, 'deleteOld'>
  readonly addresses: VisitorAddresses
  /** Retention of leads. */
  readonly days: number
  readonly log: Log
}

/** Deletes expired leads, and hashes of visitors that no limit counts any more, now and every hour. */
export function startShopperRetention({ leads, addresses, days, log }: ShopperRetentionOptions) {
  const pass = async () => {
    let deleted = 0
    for (let more = await leads.deleteOld(days, BATCH_SIZE); more > 0; more = await leads.deleteOld(days, BATCH_SIZE))
      deleted += more
    while ((await addresses.forget(BATCH_SIZE)) > 0);
    if (deleted > 0) log.info({ deleted }, 'expired leads deleted')
  }
  const run = () => pass().catch((error) => log.warn({ reason: error.name }, 'retention sweep failed'))
  let running = run()
  const timer = setInterval(() => {
    running = running.then(run)
  }, HOUR_MS)
  return {
    stop: async (): Promise<void> => {
      clearInterval(timer)
      await running
    },
  }
}
