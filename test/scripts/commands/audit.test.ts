import { hostname, userInfo } from 'node:os'
import { beforeAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createOperatorAudit } from '../../../api/dashboard/operator-audit.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { runAudited } from '../../../scripts/commands/audit.ts'
import type { DatabaseCommand } from '../../../scripts/commands/command.ts'
import type { Options } from '../../../scripts/commands/options.ts'
import { COMMANDS } from '../../../scripts/commands/program.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { openTestDatabase } from '../../support/postgres.ts'

describe('the audit log of the command line', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 1 })
  beforeAll(async () => {
    // One connection, as the command line has: a command that leaves its transaction would wait for ever.
  })

  const run = async (name: string, options: Options = {}) =>
    (await runAudited(database, { name, command: COMMANDS[name] as DatabaseCommand, options })) as Record<
      string,
      string
    >
  const list = () => createOperatorAudit(database).listing.list({}, { limit: 50 })
  const actor = `cli:${userInfo().username}@${hostname()}`

  it('records actor, action and account, without secrets', async () => {
    const { id, apiKey } = await run('account create', { name: 'Shop', credits: '5' })
    const made = await run('key create', { account: id, scope: 'read', actor: 'ada' })
    const secrets = { secret: 'secret-of-the-shop', 'admin-token': 'token-of-the-shop' }
    const shop = await run('shop create', { account: id, platform: 'shopify', domain: 'a.example', ...secrets })
    const { password } = await run('operator create', { email: 'ada@example.com' })
    await run('key revoke', { key: made.key })
    const entries = await list()
    expect(entries.map((entry) => [entry.action, entry.object, entry.accountId, entry.actor])).toEqual([
      ['key.revoke', made.id, id, actor],
      ['operator.create', expect.stringMatching(/^op_/), null, actor],
      ['shop.create', shop.id, id, actor],
      ['key.create', made.id, id, 'cli:ada'],
      ['account.create', id, id, actor],
    ])
    expect(entries[3]).toMatchObject({ details: { scope: 'read' }, operatorEmail: null, address: null })
    for (const secret of [apiKey, made.key, password, ...Object.values(secrets)])
      expect(JSON.stringify(entries)).not.toContain(secret)
  })

  it('records every setting that a command changes', async () => {
    const { id } = await run('account create', { name: 'Budgets' })
    const { id: shop } = await run('shop create', { account: id, platform: 'plugin', domain: 'budgets.example' })
    const budgets = {
      'address-generations': '3',
      'requires-visitor-token': 'true',
      'extra-domains': 'www.budgets.example',
    }
    await run('shop update', { shop, ...budgets })
    expect((await list())[0]).toMatchObject({ action: 'shop.update', object: shop, details: { shop, ...budgets } })
  })

  it('records no option that contains a secret or the path of one', async () => {
    const { id } = await run('account create', { name: 'Secrets' })
    const secret = 'secret-of-the-shop'
    const options = Object.values(COMMANDS).flatMap((command) => ('effect' in command ? (command.options ?? []) : []))
    const given = Object.fromEntries(options.map((option) => [option.name(), secret]))
    const command: DatabaseCommand = { summary: '', effect: 'changes', inDatabase: async () => ({ accountId: id }) }
    await runAudited(database, { name: 'shop update', command, options: { ...given, note: undefined, actor: 'ada' } })
    const [{ details }] = await list()
    const names = new Set(options.map((option) => option.name()))
    for (const name of Object.keys(details as object)) names.delete(name)
    expect([...names].sort()).toEqual([
      'admin-token',
      'admin-token-file',
      'key',
      'key-file',
      'note',
      'secret',
      'secret-file',
    ])
  })

  it('records neither reads nor rejected commands', async () => {
    const before = await list()
    await run('account list')
    await run('shop list')
    await expect(run('account update', { account: 'acc_nobody', name: 'x' })).rejects.toThrow('acc_nobody')
    await expect(run('shop update', { shop: 'nobody.example', name: 'x' })).rejects.toThrow('nobody.example')
    expect(await list()).toEqual(before)
  })

  it('commits the entry and the change in one transaction', async () => {
    const accounts = createAccounts(database)
    const { id } = await accounts.insert({ name: 'Audited', email: null, credits: 0 })
    const { drape } = createCommandLine(url)
    const add = (note: string) => drape('credits', 'add', '--account', id, '--credits', '5', '--note', note)
    expect((await add('paid')).code).toBe(0)
    expect((await list())[0]).toMatchObject({ action: 'credits.add', object: id, actor, reason: 'paid' })
    await database.query(sql.unsafe`
      alter table operator_audit add constraint refused check (reason is distinct from 'refused') not valid`)
    expect((await add('refused')).code).toBe(1)
    expect((await accounts.find(id))?.balance).toBe(5)
    expect(await accounts.findLedgerGaps()).toEqual([])
  })
})
