import { readFileSync } from 'node:fs'
import { Type } from '../shared/contract/schema.ts'
import { InvalidConfiguration, readConfig, splitList } from '../shared/process/config.ts'
import { clearText, type SecretBox } from '../shared/signing/secret-box.ts'
import { createSecretBox, readKeyBytes } from './secret-box.ts'

const SECRET_VARIABLES = {
  SECRETS_KEY: Type.String({ default: '' }),
  SECRETS_KEY_FILE: Type.String({ default: '' }),
}

/** Creates the secret box of the keys in the environment. Null when there is no key. Throws one Error that lists every problem. */
export function readSecretBox(env: Readonly<Record<string, string | undefined>>): SecretBox | null {
  const config = readConfig(Type.Object(SECRET_VARIABLES), env)
  const problems: string[] = []
  const keys = readLocalKeys(config, problems)
  if (problems.length > 0) throw new InvalidConfiguration(problems)
  const [first, ...others] = keys
  return first === undefined ? null : createSecretBox([first, ...others])
}

/** The secret box of a serving process: a key is required outside development. */
export function requireSecretBox(
  env: Readonly<Record<string, string | undefined>>,
  { development }: { development: boolean },
): SecretBox {
  const box = readSecretBox(env)
  if (box !== null) return box
  if (development) return clearText
  throw new InvalidConfiguration([
    'SECRETS_KEY must be set outside development, and kept: it encrypts the secrets in the database. Create a key with: openssl rand -base64 32',
  ])
}

type Config = { readonly [K in keyof typeof SECRET_VARIABLES]: string }

function readLocalKeys({ SECRETS_KEY, SECRETS_KEY_FILE }: Config, problems: string[]): Buffer[] {
  const texts = splitList(SECRETS_KEY)
  if (SECRETS_KEY_FILE !== '') {
    try {
      texts.push(...splitList(readFileSync(SECRETS_KEY_FILE, 'utf8').replaceAll('\n', ',')))
    } catch {
      problems.push(`SECRETS_KEY_FILE cannot be read: ${SECRETS_KEY_FILE}`)
    }
  }
  const bytes = texts.map(readKeyBytes)
  if (bytes.includes(null)) {
    problems.push('SECRETS_KEY must be keys of 32 bytes in base64 or hex, separated by commas: openssl rand -base64 32')
  }
  return bytes.filter((key) => key !== null)
}
