import { DrapeError } from '../api/shared/errors.ts'
import { type AccountChanges, type AccountRecord, createAccounts } from '../api/stores/accounts.ts'
import { type Command, type Options, readSwitch, required, UsageError, wholeNumber } from './command-options.ts'

export const ACCOUNT_USAGE = `\
  account create --name N [--credits N]                 a new account and its keys (shown once)
      and what account update takes
  account update --account ID                           "none" takes a setting away
      [--name N] [--email E] [--active true|false] [--retention-days 1|3|7] [--credits-low-at N]
      [--writes-per-minute N] [--reads-per-minute N] [--monthly-generations N] [--concurrent-generations N]
  account show --account ID                             an account, its balance and its settings
  account list                                          all of them`

export const ACCOUNT_OPTIONS = [
  ...['name', 'email', 'active', 'retention-days', 'credits-low-at', 'credits'],
  ...['writes-per-minute', 'reads-per-minute', 'monthly-generations', 'concurrent-generations'],
]

/** What an operator does with accounts. */
export const accountCommands: Readonly<Record<string, Command>> = {
  'account create': async (database, { credits = '0', ...options }) => {
    const { isActive, ...changes } = readChanges(options)
    const accounts = createAccounts(database)
    const created = await accounts.insert({
      ...changes,
      name: required(options.name, 'name'),
      email: changes.email ?? null,
      credits: wholeNumber(credits, 'credits', 0),
      settings: withoutNone(changes.settings ?? {}),
    })
    if (isActive === false) await accounts.update(created.id, { isActive })
    return created
  },

  'account update': async (database, options) =>
    present(await createAccounts(database).update(required(options.account, 'account'), readChanges(options))),

  'account show': async (database, { account }) => {
    const id = required(account, 'account')
    const found = await createAccounts(database).find(id)
    if (found === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `There is no account ${id}.`)
    return present(found)
  },

  'account list': async (database) => ({ accounts: (await createAccounts(database).list()).map(present) }),
}

const NONE = 'none'

/** What is not given stays as it is. */
function readChanges(options: Options): AccountChanges {
  const limit = (name: string, least: number) => {
    const text = options[name]
    if (text === undefined) return {}
    return { [toCamelCase(name)]: text === NONE ? null : wholeNumber(required(text, name), name, least) }
  }
  const settings = {
    ...limit('writes-per-minute', 1),
    ...limit('reads-per-minute', 1),
    ...limit('monthly-generations', 1),
    ...limit('concurrent-generations', 1),
    ...limit('credits-low-at', 0),
  }
  return {
    name: options.name === undefined ? undefined : required(options.name, 'name'),
    email: readEmail(options.email),
    isActive: readSwitch(options.active, 'active'),
    retentionDays: readDays(options['retention-days']),
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  }
}

function toCamelCase(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

function readEmail(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined
  if (text === NONE) return null
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new UsageError('--email must be an e-mail address')
  return text
}

function readDays(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!['1', '3', '7'].includes(text)) throw new UsageError('--retention-days must be 1, 3 or 7')
  return Number(text)
}

function withoutNone(settings: NonNullable<AccountChanges['settings']>): Record<string, number> {
  return Object.fromEntries(Object.entries(settings).filter((entry): entry is [string, number] => entry[1] !== null))
}

function present({ balance, ...account }: AccountRecord): Record<string, unknown> {
  return { ...account, creditBalance: balance }
}
