import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { storeLogo } from '../api/photos/account-logo.ts'
import { readSecretBox } from '../api/secrets/read-keys.ts'
import { POSTGRES_URL } from '../api/shared/config.ts'
import { createDatabase } from '../api/shared/database/database.ts'
import { migrate } from '../api/shared/database/migrate.ts'
import { DrapeError } from '../api/shared/errors.ts'
import { clearText, type SecretBox, SecretClosed } from '../api/shared/secret-box.ts'
import { createLegalHolds } from '../api/shared/stores/legal-holds.ts'
import { createObjects } from '../api/shared/stores/objects.ts'
import { createAccounts } from '../api/stores/accounts.ts'
import { createLogos } from '../api/stores/logos.ts'
import { ACCOUNT_OPTIONS, ACCOUNT_USAGE, accountCommands } from './account-commands.ts'
import { CHECK_OPTIONS, CHECK_USAGE, CheckFailure } from './check-options.ts'
import { noteAct, runAudited } from './command-audit.ts'
import { type Command, type Options, required, UsageError, wholeNumber } from './command-options.ts'
import { findUsage } from './command-usage.ts'
import { ensureRole, type Grant, grantRights, parseGrants, readRoleUrls } from './database-rights.ts'
import { ERASURE_USAGE, erasureCommands } from './erasure-commands.ts'
import { EVENT_OPTIONS, EVENT_USAGE } from './event-options.ts'
import { KEY_LISTS, KEY_OPTIONS, KEY_SWITCHES, KEY_USAGE, keyCommands } from './key-commands.ts'
import { OPERATOR_OPTIONS, OPERATOR_SWITCHES, OPERATOR_USAGE, operatorCommands } from './operator-commands.ts'
import { IMPORT_OPTIONS, IMPORT_SWITCHES, IMPORT_USAGE } from './products/import-options.ts'
import { readSecretOptions, SECRET_FILE_OPTIONS } from './secret-options.ts'
import { SECRETS_USAGE, secretsCommands } from './secrets-commands.ts'
import { SHOP_OPTIONS, SHOP_USAGE, shopCommands } from './shop-commands.ts'
import { SIMULATE_OPTIONS, SIMULATE_USAGE } from './simulate-options.ts'
import { STORAGE_OPTIONS, STORAGE_SWITCHES, STORAGE_USAGE, storageCommands, withStorage } from './storage-commands.ts'
import { sweepOnce } from './sweep-command.ts'
import { WEBHOOK_OPTIONS, WEBHOOK_SWITCHES, WEBHOOK_USAGE, webhookCommands } from './webhook-commands.ts'

const USAGE = `usage: drape <command>

  migrate [--wait-seconds N] [--grant PROCESS=ROLE,…]   migrate the database, and grant roles only the privileges that
          [--await-legal-holds]                         their processes (api, worker, controller) need; then delete no image
                                                        until the controller has published the legal holds of its policies
          [--create-roles]                              create the roles of API_DATABASE_URL, WORKER_DATABASE_URL and
                                                        CONTROLLER_DATABASE_URL first, and grant their privileges
${ACCOUNT_USAGE}
  account logo --account ID --file IMAGE | --remove     set or remove the watermark of the account's future results
${KEY_USAGE}
  credits add --account ID --credits N [--note TEXT]    add credits to an account
${IMPORT_USAGE}
${SHOP_USAGE}
${WEBHOOK_USAGE}
${EVENT_USAGE}
${OPERATOR_USAGE}
${SECRETS_USAGE}
${SIMULATE_USAGE}
${STORAGE_USAGE}
${ERASURE_USAGE}
  sweep [--policies FILE]                               delete expired images and records, except images under a legal
                                                        hold of a RetentionPolicy in FILE (default RETENTION_FILE)
  engine card NAME                                      show licence, files, speed and quality of an engine
${CHECK_USAGE}
  mcp                                                   serve tools for assistants (MCP) on standard input and output, with
                                                        the key DRAPE_API_KEY, for the service at DRAPE_URL
  ledger check                                          compare every balance with the sum of its ledger

--help prints this text, or with a command its part. --json prints the result as one line of JSON.
DATABASE_URL is the URL of the database; SECRETS_KEY or SECRETS_KEY_FILE encrypts secrets in it, as in the API.
In options that end in -file, and in erasures apply --file, the name - means standard input. The options --secret,
--admin-token and --key still accept the secret itself, with a warning.
The audit log of the dashboard records every command that changes data, with user and host or --actor NAME (DRAPE_ACTOR).`

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
    return withStorage(async (storage) => {
      const parts = { accounts: createAccounts(database), objects: createObjects(database), storage }
      const logo = await storeLogo({ accountId, file: bytes }, parts)
      await logos.replace({ accountId, key: logo })
      return { logo }
    })
  },

  ...keyCommands,

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

  ...secretsCommands,

  ...storageCommands,

  ...erasureCommands,

  'ledger check': async (database) => {
    const gaps = await createAccounts(database).findLedgerGaps()
    if (gaps.length > 0) process.exitCode = 1
    return { balanced: gaps.length === 0, gaps }
  },
}

const TEXT_OPTIONS = [
  ...['account', 'actor', 'note', 'file', 'policies', 'grant'],
  ...OPERATOR_OPTIONS,
  ...KEY_OPTIONS,
  ...SECRET_FILE_OPTIONS,
  ...ACCOUNT_OPTIONS,
  ...SHOP_OPTIONS,
  ...WEBHOOK_OPTIONS,
  ...EVENT_OPTIONS,
  ...SIMULATE_OPTIONS,
  ...CHECK_OPTIONS,
  ...STORAGE_OPTIONS,
  ...IMPORT_OPTIONS,
]

const SWITCHES = [
  'remove',
  'create-roles',
  'await-legal-holds',
  ...WEBHOOK_SWITCHES,
  ...KEY_SWITCHES,
  ...OPERATOR_SWITCHES,
  ...STORAGE_SWITCHES,
  ...IMPORT_SWITCHES,
]

async function main(): Promise<void> {
  const { positionals, values: given } = parseArgs({
    allowPositionals: true,
    options: {
      help: { type: 'boolean' },
      json: { type: 'boolean' },
      ...Object.fromEntries(SWITCHES.map((name) => [name, { type: 'boolean' as const }])),
      ...Object.fromEntries(TEXT_OPTIONS.map((name) => [name, { type: 'string' as const }])),
      ...Object.fromEntries(KEY_LISTS.map((name) => [name, { type: 'string' as const, multiple: true as const }])),
    },
  })
  if (given.help || positionals.join(' ') === 'help') {
    const part = positionals.length === 0 ? null : findUsage(USAGE, positionals)
    console.log(part === null ? USAGE : `usage: drape <command>\n\n${part}`)
    return
  }
  const joined = Object.fromEntries(
    Object.entries(given).map(([option, value]) => [option, Array.isArray(value) ? value.join(',') : value]),
  )
  const values = (await readSecretOptions(joined, (line) => console.error(line))) as Options & { json?: boolean }
  const name = positionals.join(' ')
  if (name === 'simulate') {
    const { simulateCommand } = await import('./simulate-command.ts').catch((cause) => {
      if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
      throw new UsageError('simulate is not in this image: run it in a clone of the repository')
    })
    return print(await simulateCommand(values), values.json === true)
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
  if (name.startsWith('products import')) {
    if ('key' in given) throw new UsageError('Other users can read arguments: use DRAPE_API_KEY or --key-file')
    return print(await runImport(positionals[2], values), values.json === true)
  }
  if (name === 'listen') return listenUntilStopped(values)
  if (positionals[0] === 'trigger' || name.startsWith('events resend')) {
    const { connect, resendEvent, triggerEvent } = await import('./event-commands.ts')
    const connection = connect(process.env)
    const [verb, type, id] = positionals
    const sent = verb === 'trigger' ? triggerEvent(connection, type, values) : resendEvent(connection, id)
    return print(await sent, values.json === true)
  }
  if (name.startsWith('check ')) {
    const { runCheck } = await import('./checks/run-check.ts')
    return print(await runCheck(name.slice('check '.length), values), values.json === true)
  }
  const url = process.env.DATABASE_URL
  if (name === '') throw new UsageError('Give a command')
  if (name !== 'migrate' && !commands[name]) throw new UsageError(`the command "${name}" does not exist`)
  if (!url) throw new UsageError('DATABASE_URL is not set')
  if (!POSTGRES_URL.test(url)) throw new UsageError('DATABASE_URL must start with postgres://')
  print(name === 'migrate' ? await migrateWhenReady(url, values) : await run(url, name, values), values.json === true)
}

/** Ends the listener when the process is asked to stop. */
async function listenUntilStopped(values: Options & { json?: boolean }): Promise<void> {
  const { connect } = await import('./event-commands.ts')
  const { listen } = await import('./listen-command.ts')
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort())
  await listen(connect(process.env), values, {
    signal: stopping.signal,
    output: {
      write: (line, fields) => console.log(values.json ? JSON.stringify(fields) : line),
      warn: (line) => console.error(line),
    },
  })
}

/** Exits with 1 when products failed. */
async function runImport(path: string | undefined, values: Options): Promise<Record<string, unknown>> {
  const { DRAPE_URL: url = 'http://localhost:8080', DRAPE_API_KEY } = process.env
  const apiKey = values.key ?? DRAPE_API_KEY
  if (!path) throw new UsageError('products import needs the path of a file')
  if (!apiKey) throw new UsageError('DRAPE_API_KEY is not set: the secret key sk_… of an account')
  if (!URL.canParse(url)) throw new UsageError('DRAPE_URL must be the address of the service')
  const { importProducts } = await import('./products/import-command.ts')
  const options = { path, url, apiKey, report: values.report, waitsForImages: Boolean(values['wait-images']) }
  const counts = await importProducts(options).catch((error) => {
    if (error instanceof UsageError || error instanceof DrapeError) throw error
    if (!(error instanceof Error) || !error.name.startsWith('Drape')) throw error
    throw new CheckFailure(`${error.message} Run the command again to continue.`)
  })
  if (Number(counts.failed) > 0) process.exitCode = 1
  return counts
}

/** A database that is being started is waited for. */
async function migrateWhenReady(url: string, options: Options): Promise<{ applied: string[]; granted?: Grant[] }> {
  const { within } = await import('./checks/within.ts')
  const roles = options['create-roles'] ? readRoleUrls(process.env) : []
  const created = roles.map(({ process, role }) => ({ process, role }))
  const granted = [...created, ...(options.grant ? parseGrants(options.grant) : [])]
  const applied = await within(options, 0, async () => {
    // Before the schema, for which the processes of the roles wait.
    for (const role of roles) await ensureRole(url, role)
    return migrate(url)
  })
  if (options['await-legal-holds']) await awaitLegalHolds(url)
  for (const grant of granted) await grantRights(url, grant)
  if (applied.length > 0) await noteMigration(url, options.actor, { applied, granted })
  return granted.length === 0 ? { applied } : { applied, granted }
}

async function awaitLegalHolds(url: string): Promise<void> {
  const database = createDatabase(url, { poolSize: 1 })
  await createLegalHolds(database)
    .awaitPublication()
    .finally(() => database.end())
}

async function noteMigration(
  url: string,
  actor: string | undefined,
  { applied, granted }: { applied: readonly string[]; granted: readonly Grant[] },
): Promise<void> {
  const database = createDatabase(url, { poolSize: 1 })
  try {
    const roles = granted.map(({ process, role }) => `${process}=${role}`).join(' ')
    await noteAct(database, actor, { action: 'migrate', object: null, details: { applied: applied.join(' '), roles } })
  } finally {
    await database.end()
  }
}

async function run(url: string, name: string, options: Options): Promise<Record<string, unknown>> {
  const secrets = readSecretBox(process.env) ?? warningBox()
  const database = createDatabase(url, { poolSize: 1, secrets })
  try {
    return await runAudited(database, { name, command: commands[name], options })
  } finally {
    await database.end()
  }
}

/** Stores secrets in clear, and warns: the API encrypts them only at its next pass. */
function warningBox(): SecretBox {
  const seal: SecretBox['seal'] = (secret, place) => {
    console.error(
      'warning: the database holds this secret in clear, because SECRETS_KEY is not set: set it as the API has it',
    )
    return clearText.seal(secret, place)
  }
  return { ...clearText, seal }
}

function print(answer: Record<string, unknown>, json: boolean): void {
  if (json) {
    console.log(JSON.stringify(answer))
    return
  }
  for (const [key, value] of Object.entries(answer)) {
    const isList = Array.isArray(value) && value.length > 0 && typeof value[0] === 'object'
    if (isList) console.log(`${key}:\n${value.map((entry) => `  ${JSON.stringify(entry)}`).join('\n')}`)
    else console.log(`${key}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  }
}

try {
  await main()
} catch (error) {
  const message = error instanceof Error ? error.message : String(error)
  const misused = error instanceof UsageError || (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS')
  if (misused) console.error(`${message}\n\n${helpFor(process.argv.slice(2))}`)
  else console.error(isExplained(error) ? message : error)
  process.exitCode = misused ? 2 : 1
}

/** The usage of the command that was misused: that of all commands is longer than a screen. */
function helpFor(args: readonly string[]): string {
  const end = args.findIndex((argument) => argument.startsWith('-'))
  const words = end === -1 ? args : args.slice(0, end)
  if (words.length === 0) return USAGE
  const part = findUsage(USAGE, words)
  const hint = 'drape --help lists all commands.'
  return part === null ? hint : `usage: drape <command>\n\n${part}\n\n${hint}`
}

/** Whether the message says enough without the stack. */
function isExplained(error: unknown): boolean {
  if (error instanceof DrapeError || error instanceof CheckFailure || error instanceof SecretClosed) return true
  return error instanceof Error && error.message.startsWith('The configuration is not valid:')
}
