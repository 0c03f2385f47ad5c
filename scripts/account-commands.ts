import { DrapeError } from '../api/shared/errors.ts'
import {
  type AccountChanges,
  type AccountRecord,
  type AccountSettings,
  type Bounds,
  createAccounts,
  RETENTION_WINDOW,
  SETTING_BOUNDS,
} from '../api/stores/accounts.ts'
import { type Command, type Options, readSwitch, required, UsageError, wholeNumber } from './command-options.ts'
import { readDefaultEngine, readFallbackEngines, warnAboutEngines } from './engine-options.ts'

export const ACCOUNT_USAGE = `\
  account create --name N [--credits N]                 create an account and print its keys (only once)
      and the options of account update
  account update --account ID                           change settings; "none" removes a setting
      [--name N] [--email E] [--active true|false] [--retention-days 1..90] [--credits-low-at N]
      [--writes-per-minute N] [--reads-per-minute N] [--monthly-generations N] [--concurrent-generations N]
      [--failed-generations-per-hour N] [--storage-megabytes N] [--result-days 1..90]
      [--default-engine NAME]                           engine of try-ons that name none; without it the default of the installation
      [--fallback-engines NAME,NAME]                    engines that stand in for the engine of a try-on, in order of preference
      [--fallback-after-seconds 0..3600]                estimated wait after which they do; without it only while nothing runs the engine
  account show --account ID                             show an account, its balance and its settings
  account list                                          list all accounts`

export const ACCOUNT_OPTIONS = [
  ...['name', 'email', 'active', 'retention-days', 'credits-low-at', 'credits'],
  ...['writes-per-minute', 'reads-per-minute', 'monthly-generations', 'concurrent-generations', 'storage-megabytes'],
  ...['result-days', 'failed-generations-per-hour', 'default-engine', 'fallback-engines', 'fallback-after-seconds'],
]

/** What an operator does with accounts. */
export const accountCommands: Readonly<Record<string, Command>> = {
  'account create': async (database, { credits = '0', ...options }) => {
    const { isActive, ...changes } = readChanges(options)
    await warnAboutEngines(database, enginesOf(changes))
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

  'account update': async (database, options) => {
    const changes = readChanges(options)
    await warnAboutEngines(database, enginesOf(changes))
    return present(await createAccounts(database).update(required(options.account, 'account'), changes))
  },

  'account show': async (database, { account }) => {
    const id = required(account, 'account')
    const found = await createAccounts(database).find(id)
    if (found === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${id} does not exist.`)
    return present(found)
  },

  'account list': async (database) => ({ accounts: (await createAccounts(database).list()).map(present) }),
}

function enginesOf({ settings }: AccountChanges) {
  return [settings?.defaultEngine, ...(settings?.fallbackEngines ?? [])]
}

const NONE = 'none'

/** What is not given stays as it is. */
function readChanges(options: Options): AccountChanges {
  const readNumber = (setting: string, { minimum, maximum }: Bounds) => {
    const name = toOption(setting)
    const text = options[name]
    if (text === undefined) return {}
    return { [setting]: text === NONE ? null : wholeNumber(required(text, name), name, minimum, maximum) }
  }
  const defaultEngine = readDefaultEngine(options['default-engine'])
  const fallbackEngines = readFallbackEngines(options['fallback-engines'])
  const settings = {
    ...(defaultEngine !== undefined && { defaultEngine }),
    ...(fallbackEngines !== undefined && { fallbackEngines }),
    ...Object.assign({}, ...Object.entries(SETTING_BOUNDS).map(([setting, bounds]) => readNumber(setting, bounds))),
  }
  const { 'retention-days': days } = options
  const { minimum, maximum } = RETENTION_WINDOW
  return {
    name: options.name === undefined ? undefined : required(options.name, 'name'),
    email: readEmail(options.email),
    isActive: readSwitch(options.active, 'active'),
    retentionDays: days === undefined ? undefined : wholeNumber(days, 'retention-days', minimum, maximum),
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  }
}

function toOption(setting: string): string {
  return setting.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

function readEmail(text: string | undefined): string | null | undefined {
  if (text === undefined) return undefined
  if (text === NONE) return null
  if (!/^[^\s@]+@[^\s@]+$/.test(text)) throw new UsageError('--email must be an e-mail address')
  return text
}

function withoutNone(settings: NonNullable<AccountChanges['settings']>): AccountSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))
}

function present({ balance, ...account }: AccountRecord): Record<string, unknown> {
  return { ...account, creditBalance: balance }
}
