import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { openTestDatabase } from '../../support/postgres.ts'

describe('drape account', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 1 })
  const { drape, answered } = createCommandLine(url)

  it('creates an account with all options', async () => {
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
      testOf: null,
      createdAt: expect.any(String),
    })
    expect((await answered('account', 'list')).accounts).toContainEqual(shown)
  })

  it('updates only the given settings', async () => {
    const { id } = await answered('account', 'create', '--name', 'Old', '--reads-per-minute', '5', '--credits', '7')
    const update = (...options: string[]) => answered('account', 'update', '--account', id, ...options)
    expect(await update('--name', 'New', '--retention-days', '1', '--concurrent-generations', '2')).toMatchObject({
      name: 'New',
      email: null,
      creditBalance: 7,
      retentionDays: 1,
      settings: { readsPerMinute: 5, concurrentGenerations: 2 },
    })
    expect(await update('--retention-days', '90', '--result-days', '30')).toMatchObject({
      retentionDays: 90,
      settings: { readsPerMinute: 5, concurrentGenerations: 2, resultDays: 30 },
    })
    await update('--retention-days', '1', '--result-days', 'none')
    expect((await update('--default-engine', 'fashn-vton')).settings).toMatchObject({ defaultEngine: 'fashn-vton' })
    await update('--default-engine', 'none')
    expect((await update('--safety-level', 'strict', '--allows-swimwear', 'true')).settings).toMatchObject({
      safetyLevel: 'strict',
      allowsSwimwear: true,
    })
    expect(await drape('account', 'update', '--account', id, '--safety-level', 'lax')).toMatchObject({ code: 2 })
    expect((await update('--safety-level', 'none', '--allows-swimwear', 'false')).settings.allowsSwimwear).toBe(false)
    const changed = await update('--reads-per-minute', 'none', '--email', 'a@b.example', '--active', 'false')
    expect(changed).toMatchObject({ name: 'New', email: 'a@b.example', isActive: false, retentionDays: 1 })
    expect(changed.settings).toEqual({ concurrentGenerations: 2, allowsSwimwear: false })
    expect((await update('--email', 'none', '--active', 'true')).email).toBeNull()
    expect(await createAccounts(database).find(id)).toMatchObject({ name: 'New', isActive: true, balance: 7 })
  })

  it('accepts an unknown engine name, and warns until an Engine resource has that name', async () => {
    const { id } = await answered('account', 'create', '--name', 'Studio')
    const update = () => drape('account', 'update', '--account', id, '--default-engine', 'studio')
    const chain = await answered(
      'account',
      'update',
      '--account',
      id,
      '--fallback-engines',
      'warp, mock',
      '--fallback-after-seconds',
      '30',
      '--min-quality-percent',
      '40',
      '--service-class',
      'premium',
    )
    expect(chain.settings).toEqual({
      ...{
        fallbackEngines: ['warp', 'mock'],
        fallbackAfterSeconds: 30,
        minQualityPercent: 40,
        serviceClass: 'premium',
      },
    })
    await answered(
      'account',
      'update',
      '--account',
      id,
      '--fallback-engines',
      'none',
      '--fallback-after-seconds',
      'none',
      '--min-quality-percent',
      'none',
      '--service-class',
      'none',
    )
    const warned = await update()
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining('no Engine resource is named studio') })
    expect(JSON.parse(warned.output).settings).toEqual({ defaultEngine: 'studio' })
    await database.query(sql.unsafe`
      insert into published_engines (namespace, name, license, max_slots) values ('shop', 'studio', 'Apache-2.0', 1)`)
    expect((await update()).stderr).not.toContain('studio')
  })

  it('adds credits, and removes some with a reason, showing the new balance', async () => {
    const { id } = await answered('account', 'create', '--name', 'Credited')
    const add = (credits: string, ...more: string[]) =>
      drape('credits', 'add', '--account', id, '--credits', credits, '--json', ...more)
    expect(JSON.parse((await add('1000')).output)).toEqual({ creditBalance: 1000 })
    expect(JSON.parse((await add('-990', '--note', 'a typing error')).output)).toEqual({ creditBalance: 10 })
    expect(await add('-1')).toMatchObject({ code: 2, stderr: expect.stringContaining('--note is required') })
    expect((await add('-11', '--note', 'too many')).stderr).toBe(
      'The number of credits would be more than the account has: 10.\n',
    )
    expect(await createAccounts(database).findLedgerGaps()).toEqual([])
  })

  it.each([
    ['an unknown account', 1, 'account acc_x does not exist', ['update', '--account', 'acc_x', '--name', 'N']],
    ['an account that does not exist', 1, 'The account acc_x does not exist.', ['show', '--account', 'acc_x']],
    ['no account', 2, '--account is required', ['update', '--name', 'N']],
    ['nothing to change', 1, 'changes nothing', ['update', '--account', 'acc_x']],
    ['no name', 2, '--name is required', ['create']],
    ['an empty name', 2, '--name is required', ['update', '--account', 'acc_x', '--name', '']],
    ['an address that is none', 2, '--email', ['create', '--name', 'N', '--email', 'me']],
    ['a window that does not exist', 2, '--retention-days', ['update', '--account', 'acc_x', '--retention-days', '91']],
    ['a window of nothing', 2, '--retention-days', ['update', '--account', 'acc_x', '--retention-days', '0']],
    ['too many days of results', 2, '--result-days', ['update', '--account', 'acc_x', '--result-days', '91']],
    ['a limit of nothing', 2, '--writes-per-minute', ['update', '--account', 'acc_x', '--writes-per-minute', '0']],
    [
      'a fallback after days',
      2,
      '--fallback-after-seconds must be a whole number from 0 to 3600',
      ['update', '--account', 'acc_x', '--fallback-after-seconds', '1e9'],
    ],
    ['a limit in words', 2, '--credits-low-at', ['update', '--account', 'acc_x', '--credits-low-at', 'ten']],
    [
      'a name that no engine can have',
      2,
      '--default-engine must be the name of an engine: lower-case letters',
      ['update', '--account', 'acc_x', '--default-engine', 'Imagen 3'],
    ],
    [
      'a fallback that no engine can be',
      2,
      '--fallback-engines',
      ['update', '--account', 'x', '--fallback-engines', 'A'],
    ],
    ['a switch that is neither on nor off', 2, '--active', ['update', '--account', 'acc_x', '--active', 'yes']],
  ])('says clearly what is wrong with %s', async (_, code, words, args) => {
    const refused = await drape('account', ...args)
    expect(refused).toMatchObject({ code, output: '', stderr: expect.stringContaining(words) })
  })
})
