import { execFile } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { createAccounts } from '../../../api/accounts/accounts.store.ts'
import { createOperators } from '../../../api/dashboard/sign-in/operators.store.ts'
import { verifyPassword } from '../../../api/dashboard/sign-in/password.ts'
import { createCommandLine } from '../../support/command-line.ts'
import { openTestDatabase } from '../../support/postgres.ts'

describe('drape operator', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 1 })
  const { drape, answered } = createCommandLine(url)

  const isPassword = async (email: string, password: string) => {
    const { passwordHash = null } = (await createOperators(database).findSecret(email)) ?? {}
    return verifyPassword(password, passwordHash)
  }

  it('creates an operator, resets the password and deactivates the operator', async () => {
    const made = await answered('operator', 'create', '--email', 'Ada@example.com', '--name', 'Ada')
    expect(made).toMatchObject({ email: 'Ada@example.com', name: 'Ada', isActive: true })
    expect(await isPassword('ada@example.com', made.password)).toBe(true)
    const { operators } = await answered('operator', 'list')
    expect(operators).toMatchObject([{ email: 'Ada@example.com' }])
    expect(JSON.stringify(operators)).not.toContain('argon2')
    const { password } = await answered('operator', 'update', '--email', 'ada@example.com', '--reset-password')
    expect([await isPassword('ada@example.com', made.password), await isPassword('ada@example.com', password)]).toEqual(
      [false, true],
    )
    const changed = await answered(
      'operator',
      'update',
      '--email',
      'ADA@example.com',
      '--role',
      'viewer',
      '--active',
      'false',
    )
    expect(changed).toMatchObject({ isActive: false, role: 'viewer' })
    expect(await createOperators(database).findSecret('ada@example.com')).toBeNull()
    const again = await drape('operator', 'create', '--email', 'ada@EXAMPLE.com')
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already')])
  })

  it('creates an owner of an account, who keeps that role', async () => {
    const { id: accountId } = await createAccounts(database).insert({ name: 'Alpha', email: null, credits: 0 })
    const create = ['operator', 'create', '--email', 'olga@example.com', '--account']
    expect(await drape(...create, 'acc_x')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not exist'),
    })
    expect(await drape(...create, accountId, '--role', 'admin')).toMatchObject({ code: 2 })
    expect(await answered(...create, accountId)).toMatchObject({ role: 'owner', accountId, accountName: 'Alpha' })
    const promoted = await drape('operator', 'update', '--email', 'olga@example.com', '--role', 'admin')
    expect([promoted.code, promoted.stderr]).toEqual([1, expect.stringContaining('stays one')])
    expect(await createOperators(database).find('olga@example.com')).toMatchObject({ role: 'owner' })
  })

  it('reads a password from standard input, and rejects a short password', async () => {
    const create = (email: string, password: string) =>
      new Promise<number>((resolve) => {
        const args = ['scripts/drape.ts', 'operator', 'create', '--email', email, '--password-stdin']
        const env = { ...process.env, DATABASE_URL: url }
        const child = execFile(process.execPath, args, { env }, (error) => resolve(Number(error?.code ?? 0)))
        child.stdin?.end(password)
      })
    expect(await create('grace@example.com', 'a pass phrase of 👩‍👧\n')).toBe(0)
    expect(await isPassword('grace@example.com', 'a pass phrase of 👩‍👧')).toBe(true)
    expect(await create('eve@example.com', 'short\n')).toBe(2)
    expect(await create('eve@example.com', 'two lines that\nare long\n')).toBe(2)
    expect(await createOperators(database).findSecret('eve@example.com')).toBeNull()
  })
})
