import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type Database } from '../../api/shared/database.ts'
import { createAccounts } from '../../api/stores/accounts.ts'
import { createCommandLine } from '../support/command-line.ts'
import { createTestDatabase } from '../support/postgres.ts'

describe('the command line of accounts', () => {
  let database: Database
  let drop: () => Promise<void>
  let drape: ReturnType<typeof createCommandLine>['drape']
  let answered: ReturnType<typeof createCommandLine>['answered']

  beforeAll(async () => {
    const created = await createTestDatabase()
    drop = created.drop
    database = createDatabase(created.url, { poolSize: 1 })
    ;({ drape, answered } = createCommandLine(created.url))
  })
  afterAll(async () => {
    await database.end()
    await drop()
  })

  it('creates an account with everything that it may have', async () => {
    const about = ['--name', 'Shirts', '--email', 'shirts@shop.example', '--credits', '50', '--retention-days', '3']
    const limits = ['--writes-per-minute', '10', '--monthly-generations', '1000', '--credits-low-at', '0']
    const created = await answered('account', 'create', ...about, ...limits)
    expect(created).toEqual({
      id: expect.stringMatching(/^acc_/),
      apiKey: expect.stringMatching(/^sk_/),
      publishableKey: expect.stringMatching(/^pk_/),
    })
    const shown = await answered('account', 'show', '--account', created.id)
    expect(shown).toEqual({
      id: created.id,
      name: 'Shirts',
      email: 'shirts@shop.example',
      creditBalance: 50,
      isActive: true,
      retentionDays: 3,
      settings: { writesPerMinute: 10, monthlyGenerations: 1000, creditsLowAt: 0 },
      createdAt: expect.any(String),
    })
    expect((await answered('account', 'list')).accounts).toContainEqual(shown)
  })

  it('changes what it is told to and nothing else', async () => {
    const { id } = await answered('account', 'create', '--name', 'Old', '--reads-per-minute', '5', '--credits', '7')
    const update = (...options: string[]) => answered('account', 'update', '--account', id, ...options)
    expect(await update('--name', 'New', '--retention-days', '1', '--concurrent-generations', '2')).toMatchObject({
      name: 'New',
      email: null,
      creditBalance: 7,
      retentionDays: 1,
      settings: { readsPerMinute: 5, concurrentGenerations: 2 },
    })
    const changed = await update('--reads-per-minute', 'none', '--email', 'a@b.example', '--active', 'false')
    expect(changed).toMatchObject({ name: 'New', email: 'a@b.example', isActive: false, retentionDays: 1 })
    expect(changed.settings).toEqual({ concurrentGenerations: 2 })
    expect((await update('--email', 'none', '--active', 'true')).email).toBeNull()
    expect(await createAccounts(database).find(id)).toMatchObject({ name: 'New', isActive: true, balance: 7 })
  })

  it.each([
    ['an account that nobody has', 1, 'no account acc_x', ['update', '--account', 'acc_x', '--name', 'N']],
    ['an account that nobody can be shown', 1, 'no account acc_x', ['show', '--account', 'acc_x']],
    ['no account', 2, '--account is required', ['update', '--name', 'N']],
    ['nothing to change', 1, 'Nothing', ['update', '--account', 'acc_x']],
    ['no name', 2, '--name is required', ['create']],
    ['an empty name', 2, '--name is required', ['update', '--account', 'acc_x', '--name', '']],
    ['an address that is none', 2, '--email', ['create', '--name', 'N', '--email', 'me']],
    ['a window that does not exist', 2, '--retention-days', ['update', '--account', 'acc_x', '--retention-days', '30']],
    ['a limit of nothing', 2, '--writes-per-minute', ['update', '--account', 'acc_x', '--writes-per-minute', '0']],
    ['a limit in words', 2, '--credits-low-at', ['update', '--account', 'acc_x', '--credits-low-at', 'ten']],
    ['a switch that is neither on nor off', 2, '--active', ['update', '--account', 'acc_x', '--active', 'yes']],
  ])('says clearly what is wrong with %s', async (_, code, words, args) => {
    const refused = await drape('account', ...args)
    expect(refused).toMatchObject({ code, output: '', said: expect.stringContaining(words) })
  })
})
