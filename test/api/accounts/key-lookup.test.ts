import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createApiKeys } from '../../../api/accounts/api-keys.store.ts'
import { createKeyLookup } from '../../../api/accounts/key-lookup.ts'
import { createKeyUses } from '../../../api/accounts/key-uses.ts'
import { type KeyRestrictions, readRestrictions, UNRESTRICTED } from '../../../api/accounts/restrictions.ts'
import { createDatabase, sql } from '../../../api/shared/database/database.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { openTestDatabase } from '../../support/postgres.ts'

const HOUR = 3_600_000

describe('a key', async () => {
  const { database } = await openTestDatabase({ poolSize: 2 })
  const accountId = (await createAccounts(database).insert({ name: 'Shop', email: null, credits: 0 })).id

  const keys = () => createApiKeys(database)
  const make = (restrictions: Partial<KeyRestrictions> = {}) =>
    keys().insert(accountId, 'secret', { ...UNRESTRICTED, ...restrictions })
  const log = createLog({ process: 'api', level: 'silent' })

  it('is refused after its expiry, even if cached', async () => {
    let at = Date.now()
    const find = createKeyLookup({ keys: keys(), kind: 'secret', now: () => at })
    const { key } = await make({ expiresAt: new Date(at + 2000) })
    expect((await find(key, '127.0.0.1'))?.account.id).toBe(accountId)
    // Less than the 3 s for which it is cached.
    at += 2001
    await expect(find(key, '127.0.0.1')).rejects.toMatchObject({ code: 'INVALID_API_KEY' })
  })

  it.each(['revoked', 'inactive'])(
    'is refused within 5 seconds when it is %s, although asked all the time',
    async (how) => {
      let at = Date.now()
      const find = createKeyLookup({ keys: keys(), kind: 'secret', now: () => at })
      const account = await createAccounts(database).insert({ name: 'Other', email: null, credits: 0 })
      expect(await find(account.apiKey, '127.0.0.1')).not.toBeNull()
      if (how === 'revoked') await createAccounts(database).revokeKey(account.apiKey)
      else await database.query(sql.unsafe`update accounts set is_active = false where id = ${account.id}`)
      const found = async () => (await find(account.apiKey, '127.0.0.1').catch(() => null)) !== null
      for (let step = 0; step < 4; step++, at += 1000) await found()
      expect(await found()).toBe(false)
    },
  )

  it('is not accepted longer when the database responds slowly', async () => {
    let at = Date.now()
    const slow = {
      find: async (...asked: Parameters<ReturnType<typeof keys>['find']>) => {
        const found = await keys().find(...asked)
        at += 500
        return found
      },
    }
    const find = createKeyLookup({ keys: slow, kind: 'secret', now: () => at })
    const { key } = await make({ expiresAt: new Date(at + 2000) })
    await find(key, '127.0.0.1')
    at += 1501
    await expect(find(key, '127.0.0.1')).rejects.toMatchObject({ code: 'INVALID_API_KEY' })
  })

  it('is refused from other addresses, even if cached', async () => {
    const find = createKeyLookup({ keys: keys(), kind: 'secret' })
    const { key } = await make({ allowedCidrs: ['10.0.0.0/8'] })
    expect(await find(key, '10.1.2.3')).not.toBeNull()
    expect(await find(key, '::ffff:10.1.2.3')).not.toBeNull()
    for (const address of ['11.0.0.1', '::1', '', 'unknown'])
      await expect(find(key, address), address).rejects.toMatchObject({ code: 'INVALID_API_KEY' })
    await expect(find(key, '::ffff:11.0.0.1')).rejects.toThrow('not allowed from the IP address 11.0.0.1.')
  })

  it('keeps its restrictions when it is replaced', async () => {
    const restrictions = {
      scopes: ['read' as const],
      expiresAt: new Date(Date.now() + HOUR),
      allowedCidrs: ['10.0.0.0/8'],
    }
    const { id } = await make(restrictions)
    const made = await keys().rotate({ accountId, id })
    const listed = await keys().list(accountId)
    expect(listed.find((one) => one.id === made?.id)).toMatchObject(restrictions)
    expect(listed.find((one) => one.id === id)?.revokedAt).not.toBeNull()
  })

  it('has its last use written in one statement with all other keys', async () => {
    let [at, statements] = [Date.now(), 0]
    const store = keys()
    const noteUses: typeof store.noteUses = (uses) => {
      statements++
      return store.noteUses(uses)
    }
    const uses = createKeyUses({ keys: { noteUses }, log, now: () => at })
    const find = createKeyLookup({ keys: store, kind: 'secret', uses, now: () => at })
    const made = [await make(), await make(), await make()]
    for (let i = 0; i < 50; i++) for (const { key } of made.slice(0, 2)) await find(key, '127.0.0.1')
    const lastUse = async () => {
      const listed = await store.list(accountId)
      return made.map(({ id }) => listed.find((one) => one.id === id)?.lastUsedAt ?? null)
    }
    expect(await lastUse()).toEqual([null, null, null])
    at += 30_000
    await uses.flush()
    await uses.flush()
    expect(statements).toBe(1)
    const [first, second, third] = await lastUse()
    expect(first?.getTime()).toBeLessThan(Date.now() - 20_000)
    expect([second?.getTime(), third]).toEqual([first?.getTime(), null])
    // Another replica that writes later what it noted before changes nothing.
    await store.noteUses([{ id: made[0].id, secondsAgo: 3600 }])
    expect((await lastUse())[0]).toEqual(first)
    await find(made[2].key, '127.0.0.1')
    await uses.stop()
    expect((await lastUse())[2]).not.toBeNull()
  })

  it('has its last use written later if a write fails', async () => {
    const { id } = await make()
    const gone = createDatabase('postgres://nobody@127.0.0.1:1/nothing', { poolSize: 1 })
    let isAway = true
    const noteUses = (given: readonly { id: string; secondsAgo: number }[]) =>
      createApiKeys(isAway ? gone : database).noteUses(given)
    const uses = createKeyUses({ keys: { noteUses }, log })
    uses.note(id)
    await uses.flush()
    isAway = false
    await uses.stop()
    expect((await keys().list(accountId)).find((one) => one.id === id)?.lastUsedAt).not.toBeNull()
    await gone.end()
  })

  it.each([
    ['scopes of a publishable key', 'publishable', { scopes: ['read'] }],
    ['addresses of a publishable key', 'publishable', { allowedCidrs: ['10.0.0.0/8'] }],
    ['no scope at all', 'secret', { scopes: [] }],
    ['a time in the past', 'secret', { expiresAt: new Date(0) }],
    ['no time', 'secret', { expiresAt: new Date('soon') }],
    ['a range that is none', 'secret', { allowedCidrs: ['10.0.0.0/33'] }],
    ['no range', 'secret', { allowedCidrs: [] }],
    ['too many ranges', 'secret', { allowedCidrs: Array.from({ length: 51 }, () => '10.0.0.0/8') }],
  ] as const)('is not created with %s', (_, kind, restrictions) => {
    expect(() => readRestrictions(kind, { ...UNRESTRICTED, ...restrictions } as KeyRestrictions)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED' }),
    )
  })

  it('accepts single addresses as ranges', () => {
    const given = { ...UNRESTRICTED, allowedCidrs: ['203.0.113.7', '2001:db8::1', '10.0.0.0/8'] }
    const { allowedCidrs } = readRestrictions('secret', given)
    expect(allowedCidrs).toEqual(['203.0.113.7/32', '2001:db8::1/128', '10.0.0.0/8'])
  })
})
