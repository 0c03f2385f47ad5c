import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createShops } from '../../../api/shops/shops.store.ts'
import { UsageError } from '../../../scripts/commands/options.ts'
import { readSecretOptions } from '../../../scripts/commands/secret-options.ts'
import { openTestDatabase } from '../../support/postgres.ts'
import { TEST_SECRETS, TEST_SECRETS_KEY } from '../../support/secrets.ts'

describe('secrets as options', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-secrets-'))
  await writeFile(join(folder, 'secret'), 'from a file\n')
  afterAll(() => rm(folder, { recursive: true }))

  const read = async (values: Record<string, string>) => {
    const warnings: string[] = []
    return { values: await readSecretOptions(values, (line) => warnings.push(line)), warnings }
  }

  it('are read from files, without trailing newline and without a warning', async () => {
    const { values, warnings } = await read({ 'secret-file': join(folder, 'secret'), name: 'Shirts' })
    expect(values).toMatchObject({ secret: 'from a file', name: 'Shirts' })
    expect(warnings).toEqual([])
  })

  it('are accepted as arguments, with a warning that names --secret-file', async () => {
    const { values, warnings } = await read({ secret: 'hush', 'admin-token': 'none' })
    expect(values).toMatchObject({ secret: 'hush', 'admin-token': 'none' })
    expect(warnings).toEqual([expect.stringContaining('--secret-file PATH, or --secret-file -')])
  })

  it.each([
    [{ secret: 'hush', 'secret-file': '-' }, 'one of --secret and --secret-file'],
    [{ 'secret-file': '/nowhere' }, '--secret-file cannot be read: /nowhere'],
  ])('are rejected when ambiguous or unreadable: %o', async (values, message) => {
    await expect(read(values)).rejects.toThrow(UsageError)
    await expect(read(values)).rejects.toThrow(message)
  })

  describe('with a database', async () => {
    const { database, url } = await openTestDatabase({ poolSize: 1, secrets: TEST_SECRETS })

    it('are read from standard input, and appear in no argument or output', async () => {
      const { id } = await createAccounts(database).insert({ name: 'Test', email: null, credits: 0 })
      const command = ['shop', 'create', '--account', id, '--platform', 'shopify', '--domain', 'piped.example']
      const env = { ...process.env, DATABASE_URL: url, SECRETS_KEY: TEST_SECRETS_KEY }
      const child = spawn(process.execPath, ['scripts/drape.ts', ...command, '--secret-file', '-', '--json'], { env })
      child.stdin.end('piped secret\n')
      const [output, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      expect(stderr).toBe('')
      expect(output).not.toContain('piped secret')
      expect((await createShops(database).find('piped.example'))?.shop.secrets).toMatchObject([
        { secret: 'piped secret' },
      ])
    })
  })
})
