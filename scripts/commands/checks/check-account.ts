import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createDatabase } from '../../../api/shared/database/database.ts'
import { databaseUrl } from './environment.ts'

const NAME = 'Installation checks'

/** Calls `use` with a key of the account that all checks share, which has a credit, and revokes the key afterwards. */
export async function withCheckAccount<T>(use: (apiKey: string) => Promise<T>): Promise<T> {
  const database = createDatabase(databaseUrl(), { poolSize: 1 })
  try {
    const accounts = createAccounts(database)
    const known = (await accounts.list()).find(({ name, isActive }) => name === NAME && isActive)
    const { id, balance } = known ?? {
      ...(await accounts.insert({ name: NAME, email: null, credits: 1, retentionDays: 1 })),
      balance: 1,
    }
    if (balance === 0) await accounts.addCredits({ accountId: id, credits: 1, note: 'a check of the installation' })
    const apiKey = await accounts.insertKey(id, 'secret')
    try {
      return await use(apiKey)
    } finally {
      await accounts.revokeKey(apiKey)
    }
  } finally {
    await database.end()
  }
}
