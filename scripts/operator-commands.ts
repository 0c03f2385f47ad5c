import { text } from 'node:stream/consumers'
import { randomBase62 } from '../api/base62.ts'
import { hashPassword, PASSWORD_LENGTH } from '../api/dashboard/password.ts'
import { createOperators } from '../api/stores/operators.ts'
import { type Command, type Options, required, UsageError } from './command-options.ts'

export const OPERATOR_USAGE = `\
  operator create --email E [--name N]                  who may use the dashboard; the password is made and shown once
      [--password-stdin]                                or read from the input
  operator password --email E [--password-stdin]        another password; signs the operator out everywhere
  operator disable --email E                            nobody signs in with this address any more
  operator enable --email E
  operator list                                         every operator`

export const OPERATOR_SWITCHES = ['password-stdin']

/** Who may use the dashboard. */
export const operatorCommands: Readonly<Record<string, Command>> = {
  'operator create': async (database, options) => {
    const email = readEmail(options)
    const { password, shown } = await choosePassword(options)
    const passwordHash = await hashPassword(password)
    return {
      ...(await createOperators(database).insert({ email, name: options.name ?? null, passwordHash })),
      ...shown,
    }
  },

  'operator password': async (database, options) => {
    const email = readEmail(options)
    const { password, shown } = await choosePassword(options)
    return { ...(await createOperators(database).setPassword(email, await hashPassword(password))), ...shown }
  },

  'operator disable': (database, options) => createOperators(database).setActive(readEmail(options), false),
  'operator enable': (database, options) => createOperators(database).setActive(readEmail(options), true),

  'operator list': async (database) => ({ operators: await createOperators(database).list() }),
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
