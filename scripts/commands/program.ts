import { readFileSync } from 'node:fs'
import { CommanderError, Command as Program } from 'commander'
import { accountCommands } from './account.ts'
import { checkCommands } from './check.ts'
import { cloneCommands } from './clone.ts'
import type { Command } from './command.ts'
import { debugCommand } from './debug.ts'
import { doctorCommand } from './doctor.ts'
import { erasureCommands } from './erasures.ts'
import { eventCommands } from './event.ts'
import { keyCommands } from './key.ts'
import { migrateCommand } from './migrate.ts'
import { operatorCommands } from './operator.ts'
import { type Options, UsageError } from './options.ts'
import { policyCommands } from './policy.ts'
import { provenanceCommands } from './provenance.ts'
import { receiptCommands } from './receipt.ts'
import { secretsCommands } from './secrets.ts'
import { shopCommands } from './shop.ts'
import { storageCommands } from './storage.ts'
import { tryOnCommands } from './try-on.ts'
import { webhookCommands } from './webhook.ts'

/** All commands by name, for example `shop secret add`. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  doctor: doctorCommand,
  debug: debugCommand,
  migrate: migrateCommand,
  ...accountCommands,
  ...keyCommands,
  ...shopCommands,
  ...policyCommands,
  ...webhookCommands,
  ...operatorCommands,
  ...secretsCommands,
  ...storageCommands,
  ...erasureCommands,
  ...checkCommands,
  ...eventCommands,
  ...tryOnCommands,
  ...provenanceCommands,
  ...receiptCommands,
  ...cloneCommands,
}

const GROUPS: Readonly<Record<string, string>> = {
  account: 'accounts and their settings',
  key: 'keys of accounts',
  shop: 'shops and their settings',
  'shop secret': 'secrets that the proxy of a shop signs with',
  webhook: 'endpoints of webhooks and their deliveries',
  'webhook secret': 'signing secrets of an endpoint',
  operator: 'operators of the dashboard',
  credits: 'credits of accounts',
  secrets: 'encryption of stored secrets',
  storage: 'objects in the storage',
  erasures: 'the log of erasures',
  events: 'events that were sent',
  provenance: 'Content Credentials of results',
  policy: 'texts that visitors agree to',
  receipt: 'receipts of erasures',
  products: 'the catalogue of an account',
}

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

const NOTES = `
Help for one command: drape shop create --help. Exit codes: 0 success, 1 failure, 2 invalid arguments.
DATABASE_URL is the URL of the database; SECRETS_KEY or SECRETS_KEY_FILE encrypts secrets in it, as in the API.
try-on, listen, trigger, events, products, mcp and receipt use the service at DRAPE_URL (default: http://localhost:8080) with
the key DRAPE_API_KEY.
The audit log of the dashboard records every command that changes data, with user and host or --actor (DRAPE_ACTOR).`

type Run = (name: string, options: Options) => Promise<void>

/**
 * The command line, with help per command. `run` receives the name of a command and its options.
 * @throws UsageError from `parseAsync` if the arguments name no command or are invalid
 */
export function createProgram(run: Run): Program {
  const program = new Program('drape')
    .description('Operate Drape from the command line.')
    .version(version, '--version', 'print the version')
    .option('--json', 'print the result as one line of JSON')
    .option('--actor <name>', 'who acts, for the audit log')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ outputError: () => {} })
    .addHelpText('after', NOTES)
  endWithUsageError(program, '')
  const groups = new Map([['', program]])
  // Otherwise --help behind an unknown command would print this help.
  refuseUnknown(program)
  for (const [name, command] of Object.entries(COMMANDS)) addCommand(groupOf(name, groups), { name, command, run })
  return program
}

/** The parent command, for example `shop secret` of `shop secret add`; created if missing. */
function groupOf(name: string, groups: Map<string, Program>): Program {
  const path = name.split(' ').slice(0, -1).join(' ')
  const known = groups.get(path)
  if (known !== undefined) return known
  const made = groupOf(path, groups).command(lastWord(path)).summary(GROUPS[path]).description(GROUPS[path])
  endWithUsageError(made, path)
  groups.set(path, made)
  return made
}

function addCommand(group: Program, { name, command, run }: { name: string; command: Command; run: Run }): void {
  const { summary, options = [], argument } = command
  const added = group.command(lastWord(name)).summary(summary).description(capitalized(summary))
  for (const option of options) added.addOption(option)
  if (argument !== undefined) added.addArgument(argument)
  const needed = options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags)
  added.usage([...needed, '[options]', ...(argument === undefined ? [] : [`<${argument.name()}>`])].join(' '))
  endWithUsageError(added, name)
  added.action(() =>
    run(name, readOptions(added)).catch((error) => {
      throw error instanceof UsageError ? new UsageError(error.message, name) : error
    }),
  )
}

/** Help is only for commands that exist. */
function refuseUnknown(program: Program): void {
  program.addHelpText('beforeAll', ({ error, command }) => {
    const [word] = command.args
    const isGroup = command.commands.length > 0
    if (!error && isGroup && word && !word.startsWith('-'))
      throw new UsageError(`unknown command '${word}'`, pathOf(command))
    return ''
  })
}

function pathOf(command: Program): string {
  return command.parent === null ? '' : `${pathOf(command.parent)} ${command.name()}`.trim()
}

function lastWord(name: string): string {
  return name.slice(name.lastIndexOf(' ') + 1)
}

function capitalized(text: string): string {
  return `${text[0].toUpperCase()}${text.slice(1)}.`
}

/** Options and argument by name, without absent ones. */
function readOptions(command: Program): Options {
  const values = command.optsWithGlobals()
  const given = [...command.options, ...(command.parent === null ? [] : rootOf(command).options)].flatMap((option) => {
    const value = values[option.attributeName()]
    return value === undefined ? [] : [[option.name(), String(value)]]
  })
  const [argument] = command.registeredArguments
  return Object.fromEntries(argument === undefined ? given : [...given, [argument.name(), command.args[0]]])
}

function rootOf(command: Program): Program {
  return command.parent === null ? command : rootOf(command.parent)
}

/** Help output ends the program; invalid arguments become UsageErrors, which refer to the help. */
function endWithUsageError(program: Program, name: string): void {
  program.exitOverride((error) => {
    if (error.exitCode === 0 || error.code === 'commander.help') throw error
    // The likely cause, which commander reports only if no required option is missing.
    const [unknown] = program.args.filter((word) => word.startsWith('--'))
    if (error.code === 'commander.missingMandatoryOptionValue' && unknown !== undefined)
      (program as Program & { unknownOption(flag: string): void }).unknownOption(unknown)
    const message = error.message
      .replace(/^error: /, '')
      .replace(/^required option '(--[\w-]+).*/, '$1 is required')
      // The value can be a secret.
      .replace(/(--[\w-]+)=\S*'/, "$1'")
      .replace('\n', ' ')
    throw new UsageError(message, name)
  })
}

export { CommanderError }
