import { text } from 'node:stream/consumers'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { createOperators, type Rights, ROLES, type Role } from '../../api/dashboard/sign-in/operators.store.ts'
import { hashPassword, PASSWORD_LENGTH } from '../../api/dashboard/sign-in/password.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { randomBase62 } from '../../api/shared/process/base62.ts'
import type { DatabaseCommand } from './command.ts'
import { mandatory, type Options, option, readSwitch, required, UsageError } from './options.ts'

const EMAIL = mandatory('--email <address>', 'address of the operator')
const PASSWORD_STDIN = option('--password-stdin', 'read the password from standard input; default: generate a password')

/** Commands for the operators of the dashboard. */
export const operatorCommands: Readonly<Record<string, DatabaseCommand>> = {
  'operator create': {
    summary: 'create an operator of the dashboard and print the password once',
    options: [
      EMAIL,
      option('--name <name>', 'name of the operator'),
      PASSWORD_STDIN,
      option('--role <role>', 'default: admin for the first operator, viewer for others').choices(ROLES),
      option('--account <id>', 'account, acc_…, whose owner is created, who sees no other account; excludes --role'),
    ],
    effect: 'changes',
    inDatabase: create,
  },
  'operator update': {
    summary: 'change role, password, second factor or sign-in of an operator, and end the sessions',
    options: [
      EMAIL,
      option('--role <role>', 'new role').choices(ROLES),
      option('--reset-password', 'generate a password and print it once'),
      option('--password-stdin', 'read a new password from standard input'),
      option('--reset-second-factor', 'remove the authenticator app and the recovery codes'),
      option('--active <true|false>', 'whether the operator may sign in'),
    ],
    effect: 'changes',
    inDatabase: update,
  },
  'operator list': {
    summary: 'list operators',
    effect: 'reads',
    inDatabase: async (database) => ({ operators: await createOperators(database).list() }),
  },
}

async function create(database: Database, options: Options) {
  const email = readEmail(options)
  const { password, shown } = await choosePassword(options)
  const passwordHash = await hashPassword(password)
  const operators = createOperators(database)
  const rights = await readRights(database, options)
  return { ...(await operators.insert({ email, name: options.name ?? null, passwordHash, ...rights })), ...shown }
}

async function readRights(database: Database, { account: accountId, role }: Options): Promise<Rights> {
  if (accountId === undefined && role !== undefined) return { role: readRole(role) }
  if (accountId === undefined) return { role: (await createOperators(database).hasAdmin()) ? 'viewer' : 'admin' }
  if (role !== undefined) throw new UsageError('Name either --role or --account')
  await createAccounts(database).get(accountId)
  return { accountId }
}

async function update(database: Database, options: Options) {
  const email = readEmail(options)
  const operators = createOperators(database)
  const { role, active, 'reset-password': reset, 'password-stdin': stdin, 'reset-second-factor': forget } = options
  if ([role, active, reset, stdin, forget].every((change) => change === undefined))
    throw new UsageError('Name what to change, for example --role')
  const isActive = readSwitch(active, 'active')
  const chosen = reset !== undefined || stdin !== undefined ? await choosePassword(options) : null
  const found = await operators.find(email)
  if (found === null) throw new UsageError(`The operator ${email} does not exist`)
  if (role !== undefined) await operators.setRole(email, readRole(role))
  if (chosen !== null) await operators.setPassword(email, await hashPassword(chosen.password))
  if (forget !== undefined) await operators.resetSecondFactor(found.id)
  if (isActive !== undefined) await operators.setActive(email, isActive)
  return { ...(await operators.find(email)), ...chosen?.shown }
}

function readRole(text: string): Role {
  const role = ROLES.find((known) => known === text)
  if (role === undefined) throw new UsageError(`--role must be one of ${ROLES.join(', ')}`)
  return role
}

function readEmail({ email }: Options): string {
  const address = required(email, 'email')
  if (!/^[^\s@]+@[^\s@]+$/.test(address)) throw new UsageError('--email must be an e-mail address')
  return address
}

const MADE_LENGTH = 24

async function choosePassword(options: Options): Promise<{ password: string; shown: { password?: string } }> {
  if (options['password-stdin'] === undefined) {
    const made = randomBase62(MADE_LENGTH)
    return { password: made, shown: { password: made } }
  }
  if (process.stdin.isTTY) process.stderr.write('The password, and then Ctrl+D on a new line: ')
  const password = (await text(process.stdin)).replace(/\r?\n$/, '')
  const { min, max } = PASSWORD_LENGTH
  if (password.length < min || password.length > max || /\p{Cc}/u.test(password))
    throw new UsageError(`The password must be one line of ${min} to ${max} characters, and no control characters`)
  return { password, shown: {} }
}
