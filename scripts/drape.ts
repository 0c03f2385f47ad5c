import { readSecretBox } from '../api/secrets/read-keys.ts'
import { createDatabase } from '../api/shared/database/database.ts'
import { useProxies } from '../api/shared/network/proxies.ts'
import { clearText, type SecretBox } from '../api/shared/signing/secret-box.ts'
import { runAudited } from './commands/audit.ts'
import { databaseUrl } from './commands/checks/environment.ts'
import type { Answer, DatabaseCommand } from './commands/command.ts'
import { describeFailure } from './commands/failure.ts'
import type { Options } from './commands/options.ts'
import { presentAnswer, printable, warn } from './commands/output.ts'
import { COMMANDS, CommanderError, createProgram } from './commands/program.ts'
import { readSecretOptions } from './commands/secret-options.ts'

async function runCommand(name: string, given: Options): Promise<void> {
  const command = COMMANDS[name]
  const options = await readSecretOptions(given, warn)
  const answer = 'run' in command ? await command.run(options) : await runInDatabase({ name, command, options })
  if (answer === undefined) return
  const isJson = options.json !== undefined
  console.log(isJson ? printable(JSON.stringify(answer)) : presentAnswer(answer, process.stdout.columns))
}

async function runInDatabase(call: {
  name: string
  command: DatabaseCommand
  options: Options
}): Promise<Answer | undefined> {
  const secrets = readSecretBox(process.env) ?? warningBox()
  const database = createDatabase(databaseUrl(), { poolSize: 1, secrets })
  try {
    return await runAudited(database, call)
  } finally {
    await database.end()
  }
}

/** Stores secrets unencrypted, with a warning: the API encrypts them only on its next pass. */
function warningBox(): SecretBox {
  const seal: SecretBox['seal'] = (secret, place) => {
    warn('this secret is stored unencrypted, because SECRETS_KEY is not set: set the same SECRETS_KEY as for the API')
    return clearText.seal(secret, place)
  }
  return { ...clearText, seal }
}

/** `help shop create` as `shop create --help`: commander's own command ignores all words after the first. */
function withHelpOption(words: readonly string[]): readonly string[] {
  const at = words.indexOf('help')
  if (at === -1 || words.slice(0, at).some((word) => word.startsWith('-'))) return words
  return [...words.toSpliced(at, 1), '--help']
}

try {
  useProxies(process.env)
  await createProgram(runCommand).parseAsync(withHelpOption(process.argv.slice(2)), { from: 'user' })
} catch (error) {
  if (error instanceof CommanderError) {
    // Help was printed: on request, or because no command was given.
    process.exitCode = error.exitCode === 0 ? 0 : 2
  } else {
    const { line, exitCode } = describeFailure(error)
    console.error(printable(line))
    if (process.env.LOG_LEVEL === 'debug') console.error(error)
    process.exitCode = exitCode
  }
}
