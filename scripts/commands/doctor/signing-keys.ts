import { DrapeError } from '../../../api/shared/contract/errors.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { readConfig, readFileOf } from '../../../api/shared/process/config.ts'
import { readKeyring } from '../../../api/shared/signing/keyring.ts'
import { examine, type Finding, ok } from './finding.ts'

type Env = Readonly<Record<string, string | undefined>>

const KEYS = [
  { check: 'receipt key', prefix: 'RECEIPT' },
  { check: 'provenance key', prefix: 'PROVENANCE' },
] as const
const CURE = 'where the key is in a key service, whether it runs, and whether the token may read the key and sign.'
const PROBE = Buffer.from('drape doctor: check that this key can sign')

/** Whether each key that the environment configures can sign. The API has that of receipts, workers have that of results. */
export async function examineSigningKeys(env: Env): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    KEYS.map(({ check, prefix }) =>
      examine(check, `Check ${prefix}_KEY or ${prefix}_TRANSIT_KEY and, ${CURE}`, () => examineKey(check, prefix, env)),
    ),
  )
  return findings.flat()
}

async function examineKey(check: string, prefix: string, env: Env): Promise<readonly Finding[]> {
  const text = Type.String({ default: '' })
  const names = ['KEY', 'KEY_FILE', 'TRANSIT_KEY', 'TRANSIT_TOKEN', 'TRANSIT_TOKEN_FILE'].map(
    (end) => `${prefix}_${end}`,
  )
  const config: Record<string, string> = readConfig(
    Type.Object(Object.fromEntries(names.map((name) => [name, text]))),
    env,
  )
  const [key, keyFile, transitKey, token, tokenFile] = names.map((name) => config[name])
  if (key + keyFile + transitKey === '') return []
  const keyring = readKeyring({ prefix, pem: key || readFileOf(names[1], keyFile), transitKey, token, tokenFile })
  try {
    const [version, ...older] = await keyring.list()
    await version.sign(PROBE)
    const where = keyring.origin === 'service' ? `in the key service, version ${older.length + 1}` : 'in PEM'
    return [ok(check, `signs, ${where}`)]
  } catch (error) {
    throw error instanceof DrapeError && error.cause instanceof Error ? error.cause : error
  }
}
