import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { createDatabase, sql } from '../../../api/shared/database/database.ts'
import { keyCommands } from '../../../scripts/commands/key.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { openTestDatabase } from '../../support/postgres.ts'

describe('drape key', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 1 })
  const commands = createCommandLine(url)
  const accountId = (await createAccounts(database).insert({ name: 'Shop', email: null, credits: 0 })).id

  const create = (...options: string[]) => commands.answered('key', 'create', '--account', accountId, ...options)

  it('creates a key with scopes, expiry and allowed addresses', async () => {
    const restricted = [
      '--name',
      'Checkout',
      '--scope',
      'try-on',
      '--scope',
      'read',
      '--expires',
      '90d',
      '--cidr',
      '203.0.113.7,10.0.0.0/8',
    ]
    const { id, key } = await create(...restricted)
    const found = await createApiKeys(database).find(key, 'secret')
    const allowedCidrs = ['203.0.113.7/32', '10.0.0.0/8']
    expect(found?.key).toMatchObject({ id, scopes: ['try-on', 'read'], allowedCidrs })
    expect(Math.round((found?.key.expiresInMs ?? 0) / 86_400_000)).toBe(90)
    const keys = await createApiKeys(database).list(accountId)
    expect(keys.find((one) => one.id === id)).toMatchObject({
      id,
      name: 'Checkout',
      lastFour: key.slice(-4),
      scopes: ['try-on', 'read'],
      allowedCidrs,
      lastUsedAt: null,
    })
    expect(JSON.stringify(keys)).not.toContain(key)
  })

  it('creates a key without restrictions', async () => {
    const { key } = (await keyCommands['key create'].inDatabase(database, { account: accountId })) as { key: string }
    const free = { scopes: null, allowedCidrs: null, expiresInMs: null }
    expect((await createApiKeys(database).find(key, 'secret'))?.key).toMatchObject(free)
  })

  it('creates keys until an account and its test account have 100, also at the same time', async () => {
    const pool = createDatabase(url, { poolSize: 4 })
    const { id } = await createAccounts(pool).insert({ name: 'Many', email: null, credits: 0 })
    const create = (account: string, options = {}) =>
      keyCommands['key create'].inDatabase(pool, { account, ...options })
    await create(id, { test: 'true' })
    const testId = String(await pool.oneFirst(sql.unsafe`select id from accounts where test_of = ${id}`))
    const add = (name: string, keys: number) =>
      pool.query(sql.unsafe`
        insert into api_keys (id, account_id, kind, hash, last_four)
        select ${name} || i, ${id}, 'secret', sha256(${name}::text::bytea || i::text::bytea), 'last' from generate_series(1, ${keys}) as i`)
    const countLive = async () =>
      (await createApiKeys(pool).list(id)).filter(({ revokedAt }) => revokedAt === null).length
    await add('key_many', 96 - (await countLive()))
    const made = await Promise.allSettled([id, testId, id, testId, id, testId, id, testId].map((one) => create(one)))
    expect([made.filter(({ status }) => status === 'fulfilled').length, await countLive()]).toEqual([4, 100])
    await add('key_more', 2)
    expect(await createApiKeys(pool).rotate({ accountId: id, id: 'key_more1' })).toMatchObject({
      key: expect.stringMatching(/^sk_/),
    })
    expect(await countLive()).toBe(102)
    await pool.end()
  })

  it('revokes a key by ID, and rejects a key that is not active', async () => {
    const { id } = (await keyCommands['key create'].inDatabase(database, { account: accountId })) as { id: string }
    const revoke = (options: Record<string, string>) => keyCommands['key revoke'].inDatabase(database, options)
    const other = await createAccounts(database).insert({ name: 'Other', email: null, credits: 0 })
    await expect(revoke({ account: other.id, 'key-id': id })).rejects.toThrow('No active key matches')
    expect(await revoke({ account: accountId, 'key-id': id })).toEqual({ revoked: true, id, accountId })
    const keys = await createApiKeys(database).list(accountId)
    expect(keys.find((key) => key.id === id)?.revokedAt).not.toBeNull()
    await expect(revoke({ account: accountId, 'key-id': id })).rejects.toThrow('No active key matches')
    await expect(revoke({ key: 'sk_unknown' })).rejects.toThrow('No active key matches')
    await expect(revoke({})).rejects.toThrow('--key-file')
  })

  it.each([
    ['an unknown scope', '--scope must be of', { scope: 'try-on,everything' }],
    ['a time that is none', '--expires', { expires: 'soon' }],
    ['a time in the past', 'future', { expires: '2020-01-01' }],
    ['a range that is none', 'cidrs', { cidr: '10.0.0.0/99' }],
    ['scopes for browsers', 'secret keys only', { kind: 'publishable', scope: 'read' }],
    ['an account that does not exist', 'does not exist', { account: 'acc_nobody' }],
  ])('rejects %s and creates nothing', async (_, words, options) => {
    const before = await createApiKeys(database).list(accountId)
    const command = keyCommands['key create'].inDatabase(database, { account: accountId, ...options })
    await expect(command).rejects.toThrow(words)
    expect(await createApiKeys(database).list(accountId)).toEqual(before)
  })
})
