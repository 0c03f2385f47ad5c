import { ACCOUNT_COLUMNS, ACCOUNT_SETTINGS, type AccountSettings } from '../../api/accounts/account-settings.ts'
import {
  type AccountChanges,
  type AccountRecord,
  createAccounts,
  MAX_CREDITS,
} from '../../api/accounts/accounts.store.ts'
import { createLogos } from '../../api/photos/logos.store.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { createObjects } from '../../api/shared/storage/objects.store.ts'
import type { DatabaseCommand } from './command.ts'
import { warnAboutEngines } from './engine-options.ts'
import {
  mandatory,
  type Options,
  option,
  PAGE_OPTIONS,
  readGiven,
  readPage,
  readSwitch,
  required,
  wholeNumber,
} from './options.ts'
import { readSettings, settingOptions } from './setting-options.ts'
import { withStorage } from './storage.ts'

const ACCOUNT = mandatory('--account <id>', 'account, acc_…')

const SETTINGS = [
  option('--active <true|false>', 'whether its keys are accepted'),
  ...settingOptions({ ...ACCOUNT_COLUMNS, ...ACCOUNT_SETTINGS }).filter(({ long }) => long !== '--name'),
]

/** Operator commands for accounts. */
export const accountCommands: Readonly<Record<string, DatabaseCommand>> = {
  'account create': {
    summary: 'create an account and print its keys once',
    options: [
      mandatory('--name <name>', 'name of the account'),
      option('--credits <n>', 'credits to start with (default: 0)'),
      ...SETTINGS,
    ],
    effect: 'changes',
    inDatabase: create,
  },
  'account update': {
    summary: 'change settings of an account; "none" removes a setting',
    options: [ACCOUNT, option('--name <name>', 'new name'), ...SETTINGS],
    effect: 'changes',
    inDatabase: async (database, options) => {
      const changes = readChanges(options)
      await warnAboutEngines(database, enginesOf(changes))
      return present(await createAccounts(database).update(required(options.account, 'account'), changes))
    },
  },
  'account show': {
    summary: 'show an account, its balance and its settings',
    options: [ACCOUNT],
    effect: 'reads',
    inDatabase: async (database, { account }) => {
      const id = required(account, 'account')
      return present(await createAccounts(database).get(id))
    },
  },
  'account list': {
    summary: 'list accounts, newest first',
    options: PAGE_OPTIONS,
    effect: 'reads',
    inDatabase: async (database, options) => ({
      accounts: (await createAccounts(database).list(readPage(options))).map(present),
    }),
  },
  'account logo': {
    summary: "set or remove the watermark of the account's future results",
    options: [ACCOUNT, option('--file <image>', 'image of the watermark'), option('--remove', 'remove the watermark')],
    effect: 'changes in steps',
    inDatabase: setLogo,
  },
  'credits add': {
    summary: 'add credits to an account, or remove some, and show its new balance',
    options: [
      ACCOUNT,
      mandatory('--credits <n>', 'number of credits; negative, with --note: remove them'),
      option('--note <text>', 'reason, for the ledger and the audit log'),
    ],
    effect: 'changes',
    inDatabase: addCredits,
  },
}

async function create(database: Database, { credits = '0', ...options }: Options) {
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
  return { ...created }
}

async function addCredits(database: Database, { account, ...options }: Options) {
  const accountId = required(account, 'account')
  const credits = wholeNumber(required(options.credits, 'credits'), 'credits', -MAX_CREDITS, MAX_CREDITS)
  const note = credits < 0 ? required(options.note, 'note') : (options.note ?? null)
  return { creditBalance: await createAccounts(database).addCredits({ accountId, credits, note }) }
}

async function setLogo(database: Database, { account, file, remove }: Options) {
  const accountId = required(account, 'account')
  const logos = createLogos(database)
  if (remove) {
    await logos.replace({ accountId, key: null })
    return { logo: null }
  }
  const bytes = await readGiven(required(file, 'file'))
  const { storeLogo } = await import('../../api/photos/account-logo.ts')
  return withStorage(async (storage) => {
    const parts = { accounts: createAccounts(database), objects: createObjects(database), storage }
    const logo = await storeLogo({ accountId, file: bytes }, parts)
    await logos.replace({ accountId, key: logo })
    return { logo }
  })
}

function enginesOf({ settings }: AccountChanges) {
  return [settings?.defaultEngine, ...(settings?.fallbackEngines ?? [])]
}

/** Absent options leave the setting unchanged. */
function readChanges(options: Options): AccountChanges {
  const settings = readSettings(ACCOUNT_SETTINGS, options)
  return {
    ...readSettings(ACCOUNT_COLUMNS, options),
    isActive: readSwitch(options.active, 'active'),
    settings: Object.keys(settings).length > 0 ? settings : undefined,
  }
}

function withoutNone(settings: NonNullable<AccountChanges['settings']>): AccountSettings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null))
}

function present({ balance, ...account }: AccountRecord): Record<string, unknown> {
  return { ...account, creditBalance: balance }
}
