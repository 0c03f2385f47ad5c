import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createDatabase } from '../../../api/shared/database/database.ts'
import { CheckFailure } from '../failure.ts'
import { databaseUrl } from './environment.ts'

/** Every balance is the sum of its ledger. */
export async function checkLedger(): Promise<Record<string, unknown>> {
  const database = createDatabase(databaseUrl(), { poolSize: 1 })
  try {
    const gaps = await createAccounts(database).findLedgerGaps()
    if (gaps.length > 0) throw new CheckFailure(`Balances differ from their ledger: ${JSON.stringify(gaps)}`)
    return { balanced: true }
  } finally {
    await database.end()
  }
}
