import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { createRequestLog, type RequestEntry } from '../../../api/http/request-log.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { TEST_SECRETS } from '../../support/secrets.ts'

describe('the request log', async () => {
  const { database } = await openTestDatabase({ poolSize: 6, secrets: TEST_SECRETS })
  const start = Date.now() - 3_600_000

  const insertAccount = async () =>
    (await createAccounts(database).insert({ name: 'Shop', email: null, credits: 0 })).id
  const entry = (accountId: string, i: number, more: Partial<RequestEntry> = {}): RequestEntry => ({
    accountId,
    method: 'GET',
    route: '/tryon/v1/account',
    status: 200,
    errorCode: null,
    keyLastFour: 'aaaa',
    durationMs: 3,
    requestId: `req_${String(i).padStart(4, '0')}`,
    createdAt: new Date(start + i),
    ...more,
  })
  const idsOf = async (accountId: string, log = createRequestLog(database), limit = 1000) =>
    (await log.listingOf(accountId).list({}, { limit })).map(({ requestId }) => Number(requestId.slice(4)))

  it('keeps at most the newest entries of an account, over any number of writes', async () => {
    const [id, other] = [await insertAccount(), await insertAccount()]
    const log = createRequestLog(database, { maxEntries: 10 })
    await log.insert([entry(other, 0)])
    for (let i = 0; i < 35; i += 7) await log.insert(Array.from({ length: 7 }, (_, j) => entry(id, i + j)))
    expect(await idsOf(id, log)).toEqual([34, 33, 32, 31, 30, 29, 28, 27, 26, 25])
    await log.insert(Array.from({ length: 25 }, (_, i) => entry(id, 100 + i)))
    expect(await idsOf(id, log)).toEqual([124, 123, 122, 121, 120, 119, 118, 117, 116, 115])
    expect(await idsOf(other, log)).toEqual([0])
  })

  it('does not replace refused requests by successful ones', async () => {
    const id = await insertAccount()
    const log = createRequestLog(database, { maxEntries: 5 })
    await log.insert([entry(id, 0, { status: 402, errorCode: 'INSUFFICIENT_CREDITS' })])
    await log.insert(Array.from({ length: 20 }, (_, i) => entry(id, 1 + i)))
    expect(await idsOf(id, log)).toEqual([20, 19, 18, 17, 16, 0])
  })

  it('loses nothing in concurrent writes of replicas', async () => {
    const ids = [await insertAccount(), await insertAccount(), await insertAccount()]
    const logs = Array.from({ length: 6 }, () => createRequestLog(database))
    await Promise.all(
      logs.flatMap((log, replica) =>
        [0, 1, 2, 3].map((round) =>
          log.insert((replica % 2 ? ids : ids.toReversed()).map((id) => entry(id, replica * 10 + round))),
        ),
      ),
    )
    for (const id of ids) expect(await idsOf(id)).toHaveLength(24)
  })

  it('omits accounts that do not exist', async () => {
    const id = await insertAccount()
    await createRequestLog(database).insert([entry('acc_gone', 1), entry(id, 2)])
    expect(await idsOf(id)).toEqual([2])
  })

  it('shows the requests of test keys with those of their account, and lists routes', async () => {
    const id = await insertAccount()
    await createApiKeys(database).insert(id, 'secret', {
      scopes: null,
      expiresAt: null,
      allowedCidrs: null,
      isTest: true,
    })
    const [{ id: testId }] = (await database.any(
      sql.unsafe`select id from accounts where test_of = ${id}`,
    )) as readonly { id: string }[]
    const log = createRequestLog(database)
    await log.insert([entry(id, 1), entry(testId, 2, { route: '/tryon/v1/engines' })])
    expect(await idsOf(id)).toEqual([2, 1])
    expect(await log.listRoutes(id)).toEqual(['/tryon/v1/account', '/tryon/v1/engines'])
  })

  it('is searched by status, code, route, key and time, page by page', async () => {
    const id = await insertAccount()
    const log = createRequestLog(database)
    await log.insert([
      entry(id, 1, { status: 404, errorCode: 'GENERATION_NOT_FOUND', route: '/tryon/v1/generations/{id}' }),
      entry(id, 2, { keyLastFour: 'bbbb' }),
      entry(id, 3, { status: 503, errorCode: 'SERVICE_UNAVAILABLE' }),
      // At the same moment as the next one.
      entry(id, 4, { createdAt: new Date(start + 5) }),
      entry(id, 5),
    ])
    const { list } = log.listingOf(id)
    const find = async (search: Parameters<typeof list>[0]) =>
      (await list(search, { limit: 9 })).map(({ requestId }) => Number(requestId.slice(4)))
    expect(await find({ only: { statusClass: '4' } })).toEqual([1])
    expect(await find({ only: { statusClass: '5' } })).toEqual([3])
    expect(await find({ only: { errorCode: 'GENERATION_NOT_FOUND' } })).toEqual([1])
    expect(await find({ only: { route: '/tryon/v1/generations/{id}' } })).toEqual([1])
    expect(await find({ only: { keyLastFour: 'bbbb' } })).toEqual([2])
    expect(await find({ from: new Date(start + 2), to: new Date(start + 4) })).toEqual([3, 2])
    const [first] = await list({}, { limit: 1 })
    expect((await list({}, { limit: 2, before: first.id })).map(({ requestId }) => requestId)).toEqual([
      'req_0004',
      'req_0003',
    ])
  })

  it('is deleted after seven days', async () => {
    const id = await insertAccount()
    const log = createRequestLog(database)
    const day = 86_400_000
    const at = (days: number) => ({ createdAt: new Date(Date.now() - days * day) })
    await log.insert([entry(id, 1, at(7.1)), entry(id, 2, at(30)), entry(id, 3, at(6.9))])
    const { deleteOld } = createRetention(database)
    expect(await deleteOld('requests', 1)).toBe(1)
    expect(await deleteOld('requests', 100)).toBe(1)
    expect(await deleteOld('requests', 100)).toBe(0)
    expect(await idsOf(id)).toEqual([3])
  })
})
