import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createDatabase, type Database } from '../../api/shared/database/database.ts'
import { createAccounts } from '../../api/stores/accounts.ts'
import { createCommandLine } from '../support/command-line.ts'
import { createTestDatabase } from '../support/postgres.ts'

describe('the command line', () => {
  let database: Database
  let accountId: string
  let url: string
  let drop: () => Promise<void>
  let drape: ReturnType<typeof createCommandLine>['drape']
  beforeAll(async () => {
    ;({ url, drop } = await createTestDatabase())
    database = createDatabase(url, { poolSize: 1 })
    accountId = (await createAccounts(database).insert({ name: 'Shop', email: null, credits: 0 })).id
    ;({ drape } = createCommandLine(url))
  })
  afterAll(async () => {
    await database.end()
    await drop()
  })

  it('shows with a mistake the usage of the command alone', async () => {
    const { code, said } = await drape('shop', 'create', '--account', accountId, '--platform', 'plugin')
    expect(code).toBe(2)
    expect(said).toMatch(/^--domain is required\n/)
    expect(said).toContain('  shop create --account ID')
    // Its options are also those of another command.
    expect(said).toContain('  shop update --shop')
    expect(said).not.toContain('  shop list')
    expect(said).not.toContain('  account create')
  })

  it('names the commands of a group when one does not exist', async () => {
    const { code, said } = await drape('key', 'rotate')
    expect(code).toBe(2)
    expect(said).toContain('the command "key rotate" does not exist')
    for (const name of ['create', 'list', 'revoke']) expect(said).toContain(`  key ${name}`)
    expect(said).not.toContain('  shop create')
  })

  it('prints help on standard output', async () => {
    const [all, part] = [await drape('--help'), await drape('sweep', '--help')]
    expect(all).toMatchObject({ code: 0, said: '' })
    for (const name of ['migrate', 'shop create', 'ledger check']) expect(all.output).toContain(`\n  ${name}`)
    expect(part).toMatchObject({ code: 0, said: '' })
    expect(part.output).toContain('  sweep [--policies FILE]')
    expect(part.output).not.toContain('  ledger check')
  })

  it('prints each entry of a list on its own line', async () => {
    const { id } = await createAccounts(database).insert({ name: 'Lines', email: null, credits: 0 })
    const env = { ...process.env, DATABASE_URL: url }
    const args = ['scripts/drape.ts', 'key', 'list', '--account', id]
    const { stdout } = await promisify(execFile)(process.execPath, args, { env })
    const [head, ...lines] = stdout.trimEnd().split('\n')
    expect(head).toBe('keys:')
    expect(lines.map((line) => JSON.parse(line).kind).sort()).toEqual(['publishable', 'secret'])
  })

  it('warns when it stores a secret in clear', async () => {
    const inClear = createCommandLine(url, { SECRETS_KEY: '', SECRETS_KEY_FILE: '' })
    const { code, said } = await inClear.drape(
      'shop',
      'create',
      '--account',
      accountId,
      '--platform',
      'plugin',
      '--domain',
      'clear.example',
    )
    expect(code).toBe(0)
    expect(said).toBe(
      'warning: the database holds this secret in clear, because SECRETS_KEY is not set: set it as the API has it\n',
    )
  })

  it('explains a secret that its keys do not open, without a stack', async () => {
    const sealed = await drape(
      'shop',
      'create',
      '--account',
      accountId,
      '--platform',
      'plugin',
      '--domain',
      'sealed.example',
    )
    expect(sealed).toMatchObject({ code: 0, said: '' })
    const other = createCommandLine(url, { SECRETS_KEY: randomBytes(32).toString('base64') })
    const { code, said } = await other.drape('secrets', 'rewrap')
    expect(code).toBe(1)
    expect(said).toMatch(
      /^shops\.secrets of shop_\S+ is encrypted by the key \S+, which is not configured: add it to SECRETS_KEY\.\n$/,
    )
  })
})
