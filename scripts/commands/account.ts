import { readFile } from 'node:fs/promises'
import {
  type AccountChanges,
  type AccountRecord,
  type AccountSettings,
  type Bounds,
  createAccounts,
  MAX_CREDITS,
  RETENTION_WINDOW,
  SETTING_BOUNDS,
} from '../../api/accounts/accounts.store.ts'
import { storeLogo } from '../../api/photos/account-logo.ts'
import { createLogos } from '../../api/photos/logos.store.ts'
import { DrapeError } from '../../api/shared/contract/errors.ts'
import type { Database } from '../../api/shared/database/database.ts'
import { ACCOUNT_CLASSES, SAFETY_LEVELS } from '../../api/shared/generations/generation.ts'
import { createObjects } from '../../api/shared/storage/objects.store.ts'
import type { DatabaseCommand } from './command.ts'
import { readDefaultEngine, readFallbackEngines, warnAboutEngines } from './engine-options.ts'
import { mandatory, type Options, option, readSwitch, required, UsageError, wholeNumber } from './options.ts'
import { readSafetyLevel } from './safety-options.ts'
import { withStorage } from './storage.ts'

const ACCOUNT = mandatory('--account <id>', 'account, acc_…')

const SETTINGS = [
  option('--email <address>', 'address for notices, or none'),
  option('--active <true|false>', 'whether its keys are accepted'),
  option('--retention-days <1..90>', 'days that its images are kept'),
  option('--result-days <1..90>', 'days that results are kept, where they differ from those of the photo; or none'),
  option('--credits-low-at <n>', 'balance below which the event credits.low is sent, or none'),
  option('--writes-per-minute <n>', 'limit of writes, or none: 100'),
  option('--reads-per-minute <n>', 'limit of reads, or none: 6000'),
  option('--monthly-generations <n>', 'limit of try-ons per month, or none'),
  option('--concurrent-generations <n>', 'limit of unfinished try-ons, or none'),
  option('--failed-generations-per-hour <n>', 'failures after which try-ons are refused for a minute, or none'),
  option('--storage-megabytes <n>', 'limit of stored images, or none'),
  option('--min-quality-percent <0..100>', 'quality below which a result is generated again or refused, or none'),
  option(`--safety-level <${SAFETY_LEVELS.join('|')}>`, 'safety checks of images; none: off'),
  option('--allows-swimwear <true|false>', 'whether images may show underwear and swimwear at the level strict'),
  option('--default-engine <name>', 'engine of try-ons that name none; none: the default of the installation'),
  option('--fallback-engines <name,name>', 'engines that replace an unavailable engine, in order of preference'),
  option(
    '--fallback-after-seconds <0..3600>',
    'estimated wait after which a fallback engine is used; none: only while no worker runs the engine',
  ),
  option('--service-class <standard|premium>', 'class of service in metrics and objectives; none: standard'),
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
      const found = await createAccounts(database).find(id)
      if (found === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${id} does not exist.`)
      return present(found)
    },
  },
  'account list': {
    summary: 'list all accounts',
    effect: 'reads',
    inDatabase: async (database) => ({ accounts: (await createAccounts(database).list()).map(present) }),
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
  'ledger check': {
    summary: 'compare every balance with the sum of its ledger; exit code 1 where they differ',
    effect: 'reads',
    inDatabase: async (database) => {
      const gaps = await createAccounts(database).findLedgerGaps()
      if (gaps.length > 0) process.exitCode = 1
      return { balanced: gaps.length === 0, gaps }
    },
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
  const path = required(file, 'file')
  const bytes = await readFile(path).catch(() => {
    throw new UsageError(`${path} cannot be read`)
  })
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

const NONE = 'none'

/** Absent options leave the setting unchanged. */
function readChanges(options: Options): AccountChanges {
  const readNumber = (setting: string, { minimum, maximum }: Bounds) => {
    const name = toOption(setting)
    const text = options[name]
    if (text === undefined) return {}
    return { [setting]: text === NONE ? null : wholeNumber(required(text, name), name, minimum, maximum) }
  }
  const defaultEngine = readDefaultEngine(options['default-engine'])
  const fallbackEngines = readFallbackEngines(options['fallback-engines'])
  const safetyLevel = readSafetyLevel(options['safety-level'])
  const allowsSwimwear = readSwitch(options['allows-swimwear'], 'allows-swimwear')
  const settings = {
    ...(safetyLevel !== undefined && { safetyLevel }),
    ...(allowsSwimwear !== undefined && { allowsSwimwear }),
    ...(defaultEngine !== undefined && { defaultEngine }),
    ...(fallbackEngines !== undefined && { fallbackEngines }),
    ...readServiceClass(options['service-class']),
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

function readServiceClass(text: string | undefined) {
  if (text === undefined) return {}
  const found = ACCOUNT_CLASSES.find((name) => name === text)
  if (found === undefined && text !== NONE)
    throw new UsageError(`--service-class must be ${ACCOUNT_CLASSES.join(' or ')}, or none`)
  return { serviceClass: found ?? null }
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
