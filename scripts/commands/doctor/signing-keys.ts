import { Type } from '../../../api/shared/contract/schema.ts'
import { readConfig, readFileOf } from '../../../api/shared/process/config.ts'
import { readKeyPair } from '../../../api/shared/provenance/private-key.ts'
import { examine, type Finding, ok } from './finding.ts'

type Env = Readonly<Record<string, string | undefined>>

const KEYS = [
  { check: 'receipt key', name: 'RECEIPT_KEY' },
  { check: 'provenance key', name: 'PROVENANCE_KEY' },
] as const

/** Whether each key that the environment configures can sign. The API has that of receipts, workers have that of results. */
export async function examineSigningKeys(env: Env): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    KEYS.map(({ check, name }) =>
      examine(check, `Check ${name} and ${name}_FILE.`, async () => examineKey(check, name, env)),
    ),
  )
  return findings.flat()
}

function examineKey(check: string, name: string, env: Env): readonly Finding[] {
  const text = Type.String({ default: '' })
  const config: Record<string, string> = readConfig(Type.Object({ [name]: text, [`${name}_FILE`]: text }), env)
  const pem = config[name] || readFileOf(`${name}_FILE`, config[`${name}_FILE`])
  if (pem === '') return []
  return [ok(check, `is ${readKeyPair(pem, name).fingerprint}`)]
}
