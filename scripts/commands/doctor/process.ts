import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSecretBox } from '../../../api/secrets/read-keys.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { readConfig, readFileOf, SHARED_VARIABLES } from '../../../api/shared/process/config.ts'
import { readKeyPair } from '../../../api/shared/provenance/private-key.ts'
import { signingKeysOf } from '../../../api/shared/signing/signing.ts'
import { examine, type Finding, ok, problem, skipped } from './finding.ts'

type Env = Readonly<Record<string, string | undefined>>

/** As in `engines` of package.json, which images do not contain. */
export const OLDEST_NODE = [24, 7] as const
const ANSWER_MS = 3000

export function examineNode(version: string): Finding {
  const [major, minor] = version.split('.').map(Number)
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return ok('node', version)
  return problem('node', version, `Install Node ${OLDEST_NODE.join('.')} or newer.`)
}

/** Whether the keys in the environment are valid. Whether they decrypt stored secrets is examined in the database. */
export async function examineKeys(env: Env): Promise<readonly Finding[]> {
  const cure =
    'Set SECRETS_KEY to the value of the API; create a new key only for an empty database: openssl rand -base64 32'
  const signing = signingKeysOf(env.SIGNING_SECRET ?? '')
  return [
    signing.length > 0
      ? ok('signing key', `${signing.length} set`)
      : problem(
          'signing key',
          'SIGNING_SECRET is not set',
          'Set SIGNING_SECRET, the same in all API processes: openssl rand -base64 32',
        ),
    ...(await examine('encryption key', cure, async () => {
      const box = readSecretBox(env)
      if (box === null) return [problem('encryption key', 'SECRETS_KEY is not set', cure)]
      return [ok('encryption key', `encrypts with ${box.keyId}`)]
    })),
  ]
}

const SIGNING_KEYS = [
  { check: 'receipt key', name: 'RECEIPT_KEY' },
  { check: 'provenance key', name: 'PROVENANCE_KEY' },
] as const

/** Whether each key that the environment configures can sign. The API has that of receipts, workers have that of results. */
export async function examineSigningKeys(env: Env): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    SIGNING_KEYS.map(({ check, name }) =>
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

const Ports = Type.Object({
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8080 }),
  PROBE_PORT: SHARED_VARIABLES.PROBE_PORT,
})

/** Whether each port of the API is free, or used by Drape. */
export async function examinePorts(env: Env): Promise<readonly Finding[]> {
  return examine('ports', 'Set PORT and PROBE_PORT to numbers from 1 to 65535.', async () => {
    const { PORT, PROBE_PORT } = readConfig(Ports, env)
    return Promise.all([
      examinePort('PORT', { port: PORT, path: '/tryon/v1/openapi.json' }),
      examinePort('PROBE_PORT', { port: PROBE_PORT, path: '/healthz' }),
    ])
  })
}

async function examinePort(name: string, { port, path }: { port: number; path: string }): Promise<Finding> {
  const check = `port ${port}`
  const url = `http://127.0.0.1:${port}${path}`
  const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) }).catch((error: Error) => error)
  if (answer instanceof Response) {
    await answer.body?.cancel()
    if (answer.ok) return ok(check, `Drape serves ${path}`)
  } else if (answer.cause instanceof Error && 'code' in answer.cause && answer.cause.code === 'ECONNREFUSED') {
    return ok(check, 'free')
  }
  return problem(
    check,
    `in use, and does not serve ${path}`,
    `Stop the program that listens there (ss -ltnp), or set ${name} to another port.`,
  )
}

/** The NVIDIA driver and devices visible to this process or container. */
export function examineAccelerator({ env, root = '/' }: { env: Env; root?: string }): Finding {
  const { EXECUTION_PROVIDER: provider = 'cpu' } = env
  const driver = join(root, 'proc/driver/nvidia/version')
  const version = existsSync(driver)
    ? /Kernel Module\s+(?:for \S+\s+)?([\d.]+)/.exec(readFileSync(driver, 'utf8'))?.[1]
    : undefined
  const devices = readdirSync(join(root, 'dev')).filter((name) => /^nvidia\d+$/.test(name))
  if (devices.length > 0) return ok('gpu', `${devices.length} visible, driver ${version ?? 'unknown'}`)
  if (provider === 'cpu')
    return skipped('gpu', 'none visible; this process does not need one (EXECUTION_PROVIDER is cpu)')
  const cure = version
    ? 'Give the container a GPU: pools.*.accelerator with resource and runtimeClassName, or --gpus all.'
    : 'Install the NVIDIA driver on the node and the NVIDIA container toolkit.'
  return problem('gpu', `none visible, driver ${version ?? 'not loaded'}, and EXECUTION_PROVIDER is ${provider}`, cure)
}
