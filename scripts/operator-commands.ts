import { text } from 'node:stream/consumers'
import { randomBase62 } from '../api/base62.ts'
import { hashPassword, PASSWORD_LENGTH } from '../api/dashboard/password.ts'
import { createOperators, ROLES, type Role } from '../api/stores/operators.ts'
import { createSecondFactors } from '../api/stores/second-factors.ts'
import { type Command, type Options, required, UsageError } from './command-options.ts'

export const OPERATOR_USAGE = `\
  operator create --email E [--name N]                  create an operator of the dashboard and print the password once
      [--password-stdin]                                read the password from standard input instead
      [--role viewer|support|billing|admin]             default: admin for the first operator, viewer for others
  operator role --email E --role R                      change the role and end all sessions
  operator reset-second-factor --email E                remove the authenticator app and the recovery codes
  operator password --email E [--password-stdin]        reset the password and end all sessions
  operator disable --email E                            disable sign-in and end all sessions
  operator enable --email E                             enable sign-in
  operator list                                         list operators`

export const OPERATOR_OPTIONS = ['role']
export const OPERATOR_SWITCHES = ['password-stdin']

/** Who may use the dashboard. */
export const operatorCommands: Readonly<Record<string, Command>> = {
  'operator create': async (database, options) => {
    const email = readEmail(options)
    const { password, shown } = await choosePassword(options)
    const passwordHash = await hashPassword(password)
    const operators = createOperators(database)
    const byDefault = (await operators.hasAdmin()) ? 'viewer' : 'admin'
    const role = options.role === undefined ? byDefault : readRole(options.role)
    return { ...(await operators.insert({ email, name: options.name ?? null, passwordHash, role })), ...shown }
  },

  'operator password': async (database, options) => {
    const email = readEmail(options)
    const { password, shown } = await choosePassword(options)
    return { ...(await createOperators(database).setPassword(email, await hashPassword(password))), ...shown }
  },

  'operator role': (database, options) =>
    createOperators(database).setRole(readEmail(options), readRole(required(options.role, 'role'))),

  'operator reset-second-factor': async (database, options) => {
    const email = readEmail(options)
    const operator = await createOperators(database).find(email)
    if (operator === null) throw new UsageError(`The operator ${email} does not exist`)
    return { id: operator.id, email, reset: await createSecondFactors(database).delete(operator.id) }
  },

  'operator disable': (database, options) => createOperators(database).setActive(readEmail(options), false),
  'operator enable': (database, options) => createOperators(database).setActive(readEmail(options), true),

  'operator list': async (database) => ({ operators: await createOperators(database).list() }),
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
  const { least, most } = PASSWORD_LENGTH
  if (password.length < least || password.length > most || /[\p{C}]/u.test(password))
    throw new UsageError(`The password must be one line of ${least} to ${most} characters`)
  return { password, shown: {} }
}
