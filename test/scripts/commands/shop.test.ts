import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createShops } from '../../../api/shops/shops.store.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { TEST_SECRETS } from '../../support/secrets.ts'

describe('drape shop', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 1, secrets: TEST_SECRETS })

  const accountId = (await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })).id

  const line = () => createCommandLine(url, { FETCH_ALLOW_CIDRS: '10.0.0.0/8,169.254.0.0/16' })
  const drape = (...args: string[]) => line().drape(...args)
  const answered = (...args: string[]) => line().answered(...args)
  const create = (platform: string, domain: string, ...more: string[]) =>
    answered('shop', 'create', '--account', accountId, '--platform', platform, '--domain', domain, ...more)

  it('creates a shop with all options', async () => {
    const settings = ['--name', 'Shirts', '--admin-url', 'https://shirts.example/', '--admin-token', 'shpat_1']
    const limits = ['--monthly-generations', '100', '--plan-ends-at', '2030-01-31T12:00:00Z']
    const created = await create('shopify', 'Shirts.MyShopify.com', '--secret', 'hush', ...settings, ...limits)
    expect(created).toEqual({
      id: expect.stringMatching(/^shop_/),
      domain: 'shirts.myshopify.com',
      platform: 'shopify',
    })
    expect((await createShops(database).find('shirts.myshopify.com'))?.shop).toMatchObject({
      id: created.id,
      accountId,
      platform: 'shopify',
      name: 'Shirts',
      secrets: [{ secret: 'hush' }],
      adminUrl: 'https://shirts.example/',
      adminToken: 'shpat_1',
      monthlyGenerations: 100,
      billingAllowed: true,
      planEndsAt: new Date('2030-01-31T12:00:00Z'),
    })
  })

  it('requires consent only with the option', async () => {
    await create('plugin', 'free.example')
    await create('plugin', 'asking.example', '--requires-consent', 'true')
    const requires = async (domain: string) => (await createShops(database).findByDomain(domain))?.requiresConsent
    expect([await requires('free.example'), await requires('asking.example')]).toEqual([false, true])
  })

  it('generates a secret for a plugin and shows it once', async () => {
    const { secret } = await create('plugin', 'hats.example')
    expect(secret).toMatch(/^[\w-]{43}$/)
    expect((await createShops(database).find('hats.example'))?.shop.secrets).toMatchObject([{ secret }])
    const listed = await drape('shop', 'list')
    expect(listed.output).toContain('hats.example')
    expect(listed.output).not.toContain(secret)
  })

  it('lists shops without their secrets and tokens', async () => {
    await create('plugin', 'socks.example', '--secret', 'very secret', '--admin-token', 'very-secret-too')
    const { output } = await drape('shop', 'list', '--account', accountId)
    expect(output).not.toMatch(/very.secret/)
    expect(JSON.parse(output).shops).toContainEqual(
      expect.objectContaining({ domain: 'socks.example', hasAdminToken: true, secretsSince: [expect.any(String)] }),
    )
  })

  it('rotates secrets, with at most two active', async () => {
    await create('plugin', 'turning.example', '--secret', 'one')
    const { secret } = await answered('shop', 'secret', 'add', '--shop', 'turning.example')
    const third = await drape('shop', 'secret', 'add', '--shop', 'turning.example', '--secret', 'three')
    expect(third).toMatchObject({ code: 1, stderr: expect.stringContaining('Remove one first') })
    const removed = await drape('shop', 'secret', 'remove', '--shop', 'turning.example')
    expect(removed.output).not.toContain(secret)
    const live = async () =>
      (await createShops(database).find('turning.example'))?.shop.secrets.map((one) => one.secret)
    expect(await live()).toEqual([secret])
    const last = await drape('shop', 'secret', 'remove', '--shop', 'turning.example')
    expect(last).toMatchObject({ code: 1, stderr: expect.stringContaining('Name the secret') })
    await answered('shop', 'secret', 'remove', '--shop', 'turning.example', '--secret', secret)
    expect(await live()).toEqual([])
  })

  it('updates only the given settings', async () => {
    await create('plugin', 'changing.example', '--secret', 'one', '--name', 'Old', '--monthly-generations', '5')
    const update = (...options: string[]) => answered('shop', 'update', '--shop', 'changing.example', ...options)
    expect(await update('--billing-allowed', 'false', '--plan-ends-at', '2030-01-31')).toMatchObject({
      name: 'Old',
      monthlyGenerations: 5,
      billingAllowed: false,
      planEndsAt: '2030-01-31T00:00:00.000Z',
      isActive: true,
    })
    expect(await update('--extra-domains', 'WWW.Changing.example, changed.example')).toMatchObject({
      extraDomains: ['www.changing.example', 'changed.example'],
    })
    expect(await update('--default-engine', 'fashn-vton')).toMatchObject({ defaultEngine: 'fashn-vton' })
    expect(await update('--default-engine', 'none')).toMatchObject({ defaultEngine: null })
    expect(await update('--safety-level', 'strict', '--allows-swimwear', 'true')).toMatchObject({
      safetyLevel: 'strict',
      allowsSwimwear: true,
    })
    expect(await update('--safety-level', 'none', '--allows-swimwear', 'none')).toMatchObject({
      safetyLevel: null,
      allowsSwimwear: null,
    })
    for (const wrong of [
      ['--safety-level', 'lax'],
      ['--allows-swimwear', 'yes'],
      ['--holdout-percent', '51'],
    ])
      expect(await drape('shop', 'update', '--shop', 'changing.example', ...wrong)).toMatchObject({ code: 2 })
    expect(await update('--extra-domains', 'none')).toMatchObject({ extraDomains: [] })
    expect(await update('--monthly-generations', 'none', '--plan-ends-at', 'none', '--active', 'false')).toMatchObject({
      monthlyGenerations: null,
      planEndsAt: null,
      isActive: false,
    })
    expect(await createShops(database).find('changing.example')).toBeNull()
  })

  it('deletes the admin token when only the admin URL changes', async () => {
    const given = ['--admin-url', 'https://old.example', '--admin-token', 'shpat_1']
    await create('shopify', 'moving.myshopify.com', '--secret', 'hush', ...given)
    const update = (...options: string[]) => answered('shop', 'update', '--shop', 'moving.myshopify.com', ...options)
    expect(await update('--admin-url', 'https://old.example')).toMatchObject({ hasAdminToken: true })
    expect(await update('--name', 'Moving')).toMatchObject({ hasAdminToken: true })
    expect(await update('--admin-url', 'https://evil.example')).toMatchObject({ hasAdminToken: false })
    const both = ['--admin-url', 'https://new.example', '--admin-token', 'shpat_2']
    expect(await update(...both)).toMatchObject({ hasAdminToken: true })
    expect(await update('--admin-url', 'none')).toMatchObject({ hasAdminToken: false })
  })

  it.each([
    [
      'a name that no engine can have',
      2,
      'must be the name of an engine',
      ['update', '--shop', 'x', '--default-engine', 'Imagen 3'],
    ],
    ['a domain that has a shop', 1, 'already', ['create', '--platform', 'plugin', '--domain', 'TAKEN.example']],
    [
      'an account that does not exist',
      1,
      'does not exist',
      ['create', '--account', 'acc_x', '--platform', 'plugin', '--domain', 'a.b'],
    ],
    ['an unknown platform', 2, '--platform', ['create', '--platform', 'magento', '--domain', 'a.b']],
    ['an address for a domain', 2, '--domain', ['create', '--platform', 'plugin', '--domain', 'https://a.b']],
    ['a shop of Shopify without a secret', 2, '--secret', ['create', '--platform', 'shopify', '--domain', 'a.b']],
    ['an empty secret', 2, '--secret', ['create', '--platform', 'plugin', '--domain', 'a.b', '--secret', '']],
    ['a shop that does not exist', 1, 'does not exist', ['update', '--shop', 'nobody.example', '--active', 'false']],
    ['an address without TLS', 2, 'https', ['update', '--shop', 'taken.example', '--admin-url', 'http://a.b']],
    ['a metadata service', 2, 'https', ['update', '--shop', 'taken.example', '--admin-url', 'http://169.254.169.254']],
    ['an extra domain with a path', 2, 'host names', ['update', '--shop', 'taken.example', '--extra-domains', 'a.b/c']],
    ['nothing to change', 1, 'changes nothing', ['update', '--shop', 'taken.example']],
    ['a time that is none', 2, '--plan-ends-at', ['update', '--shop', 'taken.example', '--plan-ends-at', 'soon']],
    ['a switch that is neither on nor off', 2, '--active', ['update', '--shop', 'taken.example', '--active', 'maybe']],
    [
      'a negative number',
      2,
      '--monthly-generations',
      ['update', '--shop', 'taken.example', '--monthly-generations=-1'],
    ],
  ])('says clearly what is wrong with %s', async (_, code, words, args) => {
    await createShops(database)
      .insert({ accountId, platform: 'plugin', domain: 'taken.example' })
      .catch(() => {})
    const account = args.includes('--account') || args[0] !== 'create' ? [] : ['--account', accountId]
    const refused = await drape('shop', ...args, ...account)
    expect(refused).toMatchObject({ code, output: '', stderr: expect.stringContaining(words) })
  })
})
