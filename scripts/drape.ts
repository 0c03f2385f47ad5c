import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { setLogo } from '../api/account-logo.ts'
import { POSTGRES_URL, readConfig, SHARED_VARIABLES } from '../api/shared/config.ts'
import { createDatabase, migrate } from '../api/shared/database.ts'
import { DrapeError } from '../api/shared/errors.ts'
import { Type } from '../api/shared/schema.ts'
import { createStorage, type ObjectStorage } from '../api/shared/storage/storage.ts'
import { createObjects } from '../api/shared/stores/objects.ts'
import { createAccounts } from '../api/stores/accounts.ts'
import { createLogos } from '../api/stores/logos.ts'
import { ACCOUNT_OPTIONS, ACCOUNT_USAGE, accountCommands } from './account-commands.ts'
import { CHECK_OPTIONS, CHECK_USAGE, CheckFailure } from './check-options.ts'
import { type Command, type Options, required, UsageError, wholeNumber } from './command-options.ts'
import { type Grant, grantRights, parseGrants } from './database-rights.ts'
import { OPERATOR_SWITCHES, OPERATOR_USAGE, operatorCommands } from './operator-commands.ts'
import { SHOP_OPTIONS, SHOP_USAGE, shopCommands } from './shop-commands.ts'
import { SIMULATE_OPTIONS, SIMULATE_USAGE } from './simulate-options.ts'
import { sweepOnce } from './sweep-command.ts'
import { WEBHOOK_OPTIONS, WEBHOOK_SWITCHES, WEBHOOK_USAGE, webhookCommands } from './webhook-commands.ts'

const USAGE = `usage: drape <command>

  migrate [--wait-seconds N] [--grant PROCESS=ROLE,…]   bring the database up to date, and give roles what their processes
                                                        (api, worker, controller) need there and nothing else
${ACCOUNT_USAGE}
  account logo --account ID --file PICTURE | --remove   what marks the account's results from now on
  key create --account ID [--kind secret|publishable]   one more key
  key revoke --key KEY                                  end a key
  credits add --account ID --credits N [--note TEXT]    top up
${SHOP_USAGE}
${WEBHOOK_USAGE}
${OPERATOR_USAGE}
${SIMULATE_USAGE}
  sweep [--policies FILE]                               delete what is past its time, but not what a RetentionPolicy of
                                                        the file holds (RETENTION_FILE)
  engine card NAME                                      licence, files, speed and quality of an engine
${CHECK_USAGE}
  mcp                                                   tools for assistants, on standard input and output, with the key
                                                        DRAPE_API_KEY of the service at DRAPE_URL
  ledger check                                          every balance against the sum of its ledger

--json prints the answer as one line of JSON. DATABASE_URL names the database.`

const commands: Readonly<Record<string, Command>> = {
  ...accountCommands,

  'account logo': async (database, { account, file, remove }) => {
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
    return withStorage(async (storage) => ({
      logo: await setLogo(
        { accountId, file: bytes },
        { accounts: createAccounts(database), logos, objects: createObjects(database), storage },
      ),
    }))
  },

  'key create': async (database, { account, kind = 'secret' }) => {
    if (kind !== 'secret' && kind !== 'publishable') throw new UsageError('--kind must be secret or publishable')
    return { key: await createAccounts(database).insertKey(required(account, 'account'), kind) }
  },

  'key revoke': async (database, { key }) => ({
    revoked: await createAccounts(database).revokeKey(required(key, 'key')),
  }),

  'credits add': async (database, { account, credits, note = null }) => ({
    creditBalance: await createAccounts(database).addCredits({
      accountId: required(account, 'account'),
      credits: wholeNumber(required(credits, 'credits'), 'credits', 1),
      note,
    }),
  }),

  sweep: (database, { policies = process.env.RETENTION_FILE }) =>
    withStorage((storage) => sweepOnce(database, { storage, policies })),

  ...shopCommands,

  ...webhookCommands,

  ...operatorCommands,

  'ledger check': async (database) => {
    const gaps = await createAccounts(database).findLedgerGaps()
    if (gaps.length > 0) process.exitCode = 1
    return { balanced: gaps.length === 0, gaps }
  },
}

async function withStorage<T>(run: (storage: ObjectStorage) => Promise<T>): Promise<T> {
  const { STORAGE_URL } = readConfig(Type.Object({ STORAGE_URL: SHARED_VARIABLES.STORAGE_URL }), process.env)
  const storage = await createStorage(STORAGE_URL, { publicUrl: '', signingSecret: '' })
  try {
    return await run(storage)
  } finally {
    storage.close()
  }
}

const TEXT_OPTIONS = [
  ...['account', 'kind', 'key', 'note', 'file', 'policies', 'grant'],
  ...ACCOUNT_OPTIONS,
  ...SHOP_OPTIONS,
  ...WEBHOOK_OPTIONS,
  ...SIMULATE_OPTIONS,
  ...CHECK_OPTIONS,
]

const SWITCHES = ['remove', ...WEBHOOK_SWITCHES, ...OPERATOR_SWITCHES]

async function main(): Promise<void> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      json: { type: 'boolean' },
      ...Object.fromEntries(SWITCHES.map((name) => [name, { type: 'boolean' as const }])),
      ...Object.fromEntries(TEXT_OPTIONS.map((name) => [name, { type: 'string' as const }])),
    },
  })
  const name = positionals.join(' ')
  if (name === 'simulate') {
    const { simulateCommand } = await import('./simulate-command.ts').catch((cause) => {
      if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
      throw new UsageError('simulate is not in this image: run it in a clone of the repository')
    })
    return print(await simulateCommand(values as Options), values.json === true)
  }
  if (name === 'mcp') {
    const { serveMcp } = await import('./mcp-command.ts').catch((cause) => {
      if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
      throw new UsageError('mcp is not in this image: run it in a clone of the repository')
    })
    return serveMcp(process.env)
  }
  if (name.startsWith('engine card')) {
    const { engineCard } = await import('./engine-card.ts').catch((cause) => {
      if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
      throw new UsageError('engine card is not in this image: run it in a clone of the repository')
    })
    return print(await engineCard(positionals[2]), values.json === true)
  }
  if (name.startsWith('check ')) {
    const { runCheck } = await import('./checks/run-check.ts')
    return print(await runCheck(name.slice('check '.length), values as Options), values.json === true)
  }
  const url = process.env.DATABASE_URL
  if (name !== 'migrate' && !commands[name]) throw new UsageError(`there is no command "${name}"`)
  if (!url) throw new UsageError('DATABASE_URL is not set')
  if (!POSTGRES_URL.test(url)) throw new UsageError('DATABASE_URL must start with postgres://')
  print(
    name === 'migrate' ? await migrateWhenReady(url, values as Options) : await run(url, name, values as Options),
    values.json === true,
  )
}

/** A database that is being started is waited for. */
async function migrateWhenReady(url: string, options: Options): Promise<{ applied: string[]; granted?: Grant[] }> {
  const { within } = await import('./checks/within.ts')
  const granted = options.grant ? parseGrants(options.grant) : []
  const applied = await within(options, 0, () => migrate(url))
  for (const grant of granted) await grantRights(url, grant)
  return granted.length === 0 ? { applied } : { applied, granted }
}

async function run(url: string, name: string, options: Options): Promise<Record<string, unknown>> {
  const database = createDatabase(url, { poolSize: 1 })
  try {
    return await commands[name](database, options)
  } finally {
    await database.end()
  }
}

function print(answer: Record<string, unknown>, json: boolean): void {
  if (json) {
    console.log(JSON.stringify(answer))
    return
  }
  for (const [key, value] of Object.entries(answer)) {
    console.log(`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  }
}

try {
  await main()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const misused = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
  if (misused) console.error(`${message}\n\n${USAGE}`)
  else console.error(error instanceof DrapeError || error instanceof CheckFailure ? message : error)
  process.exitCode = misused ? 2 : 1
}
