import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createLegalHolds } from '../../../api/shared/retention/legal-holds.store.ts'
import { createObjects } from '../../../api/shared/storage/objects.store.ts'
import { createStorage } from '../../../api/shared/storage/storage.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { startSweeping } from '../../../controller/retention/sweeping.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

describe('the sweep of the controller', async () => {
  const { database } = await openTestDatabase({ poolSize: 2 })

  it('deletes expired objects without a hold, and only while leading', async () => {
    const { id: accountId } = await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })
    const objects = createObjects(database)
    const expiresAt = new Date(Date.now() - 1000)
    const store = (key: string, externalUserId: string | null) =>
      objects.insert({ key, accountId, externalUserId, kind: 'person', bytes: 1, expiresAt })
    const exists = async (key: string) =>
      (await database.query(sql.unsafe`select from objects where key = ${key}`)).rowCount > 0
    await store('persons/held.jpg', 'held')
    await store('persons/other.jpg', 'other')

    const { path } = await requestService('folder', null)
    const storage = await createStorage(`file:${path}`, { publicUrl: '', signingSecret: '' })
    let leads = false
    let asked = 0
    const holds = [{ accountId, externalUserId: 'held' }]
    const legalHolds = createLegalHolds(database)
    const sweeping = startSweeping({
      database,
      storage,
      everySeconds: 0.02,
      publishHolds: () => legalHolds.publish('kubernetes', [{ name: 'shop/court', holds }]),
      mayRun: () => {
        asked++
        return leads
      },
      log: createLog({ process: 'test', level: 'silent' }),
    })
    await until(() => asked > 3)
    expect(await exists('persons/other.jpg')).toBe(true)
    leads = true
    await until(async () => !(await exists('persons/other.jpg')))
    expect(await exists('persons/held.jpg')).toBe(true)
    holds.pop()
    await until(async () => !(await exists('persons/held.jpg')))
    await sweeping.stop()
    storage.close()
  })
})
