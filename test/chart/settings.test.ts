import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readApiConfig } from '../../api/config.ts'
import { chooseFeatures, FEATURES } from '../../api/features.ts'
import { readSecretBox } from '../../api/secrets/read-keys.ts'
import { readKeyPair } from '../../api/shared/provenance/private-key.ts'
import { readControllerConfig } from '../../controller/config.ts'
import { generateData } from '../../controller/generated-secrets/secret-keys.ts'
import { readWorkerConfig } from '../../worker/job/config.ts'
import { readSigningKey } from '../../worker/outputs/provenance/signing-key.ts'
import { findChart, type Rendered, renderWith } from './charts.ts'
import { generatedSecretsOf } from './generated-secrets.ts'
import { named } from './objects.ts'

const TEMPLATES = resolve(import.meta.dirname, '../../charts/drape/templates')
const REPLICA_SET = resolve(import.meta.dirname, '../../controller/worker-pool/template/replica-set.ts')

type Env = Readonly<Record<string, string | undefined>>

const PORTS = 'Services, probes and NetworkPolicies name the ports of pods'
const DEVELOPMENT = 'development turns checks off'
const TUNED = 'the default suits every installation; extraEnv'

/** Variables that no value of the chart sets, with the reason. */
const WITHOUT_VALUE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  api: {
    PORT: PORTS,
    PROBE_PORT: PORTS,
    DASHBOARD_PORT: PORTS,
    DASHBOARD_HOST: PORTS,
    NODE_ENV: DEVELOPMENT,
    SECRETS_KEY_FILE: 'the Secret comes as a variable',
    RECEIPT_KEY_FILE: 'the Secret comes as a variable',
    SMTP_URL_FILE: 'the Secret comes as a variable',
    PROBE_HOST: TUNED,
    UPLOAD_DISK_MB: TUNED,
    EVENTS_PER_MINUTE: TUNED,
    EVENT_RETENTION_DAYS: TUNED,
    FETCH_DNS_SERVERS: TUNED,
    LINGER_SECONDS: TUNED,
  },
  controller: {
    PROBE_PORT: PORTS,
    PROBE_HOST: TUNED,
    LEASE_SECONDS: TUNED,
    SWEEP_SECONDS: TUNED,
    CONCURRENCY: TUNED,
  },
  worker: {
    NODE_ENV: DEVELOPMENT,
    PROBE_HOST: 'the pods of WorkerPools listen on all addresses; extraEnv of the pool',
    MODEL_DIR: 'the image contains the models',
    START_SECONDS: 'extraEnv of the pool',
    FETCH_DNS_SERVERS: 'extraEnv of the pool',
    ...{
      PROVENANCE_KEY_FILE: 'the Secret comes as a variable',
      PROVENANCE_CERTIFICATE_FILE: 'the Secret comes as a variable',
    },
  },
}

const PROCESSES = {
  api: {
    read: [readApiConfig, readSecretBox],
    texts: ['api.yaml', '_names.tpl', '_pod.tpl'].map((name) => join(TEMPLATES, name)),
  },
  controller: {
    read: [readControllerConfig],
    texts: ['controller.yaml', '_pod.tpl'].map((name) => join(TEMPLATES, name)),
  },
  // The controller derives variables of workers from the spec of their WorkerPool, which values set.
  worker: { read: [readWorkerConfig], texts: [join(TEMPLATES, '_pod.tpl'), REPLICA_SET] },
}

/** The names that the processes look up in their environment. */
function namesReadBy(readers: readonly ((env: Env) => unknown)[]): string[] {
  const names = new Set<string>()
  const env = new Proxy<Env>({}, { get: (_, name) => void names.add(String(name)) })
  for (const read of readers) {
    try {
      read(env)
    } catch {
      // Required variables are missing; every name has been looked up by then.
    }
  }
  return [...names]
}

/** The names that the texts set to something other than a constant. */
function namesSetBy(paths: readonly string[]): Set<string> {
  const text = paths.map((path) => readFileSync(path, 'utf8')).join('\n')
  const patterns = [
    /\{ name: ([A-Z_]+), value: \{\{/g,
    /- name: ([A-Z_]+)\n\s+valueFrom:/g,
    /\{ name: '([A-Z_]+)', valueFrom: /g,
    /\(dict "name" "([A-Z_]+)" "(?:value|secret)" [^"]/g,
    /^.*?\b([A-Z_]+): (?:`|String\(|ENGINE_FOLDERS|\w+\.|\w+\.sort\(\))/gm,
  ]
  return new Set(patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name)))
}

describe('the settings of a process in the chart', () => {
  it.each(Object.entries(PROCESSES))('are values, or are exempt with a reason: %s', (process, { read, texts }) => {
    const [names, set] = [namesReadBy(read), namesSetBy(texts)]
    expect(names.length).toBeGreaterThan(10)
    expect(names.filter((name) => !set.has(name)).sort()).toEqual(Object.keys(WITHOUT_VALUE[process]).sort())
  })
})

const chart = await findChart('drape')
const render = renderWith(chart)

describe.skipIf(chart === null)('the key that signs results', () => {
  const envOf = (objects: readonly Rendered[]) =>
    (named(objects, 'WorkerPool', 'drape-cpu').spec.template.env as Rendered[]).filter(({ name }) =>
      name.startsWith('PROVENANCE_'),
    )

  it('is generated at the first install, for a self-signed certificate', async () => {
    const objects = await render({})
    expect(envOf(objects)).toEqual([{ name: 'PROVENANCE_KEY', secret: { name: 'drape-provenance', key: 'tls.key' } }])
    const generated = generatedSecretsOf(objects).find(({ metadata }) => metadata.name === 'drape-provenance')
    const key = Buffer.from(generateData(generated?.keys ?? {})['tls.key'], 'base64').toString()
    expect((await readSigningKey({ key, certificates: '' })).origin).toBe('own')
  })

  it('and its certificate come from an existing Secret', async () => {
    const objects = await render({ 'provenance.existingSecret': 'mine' })
    expect(envOf(objects)).toEqual([
      { name: 'PROVENANCE_KEY', secret: { name: 'mine', key: 'tls.key' } },
      { name: 'PROVENANCE_CERTIFICATE', secret: { name: 'mine', key: 'tls.crt' } },
    ])
    expect(objects.filter(({ metadata }) => metadata.name === 'drape-provenance')).toEqual([])
  })
})

it.skipIf(chart === null)('the API starts all extensions, those that features names, or none', async () => {
  const featuresOf = async (values: Parameters<typeof render>[0]) => {
    const { containers } = named(await render(values), 'Deployment', 'drape-api').spec.template.spec
    return containers[0].env.find(({ name }: Rendered) => name === 'FEATURES').value
  }
  expect(chooseFeatures(await featuresOf({}))).toEqual(FEATURES)
  expect(chooseFeatures(await featuresOf({ features: ['guide'] })).map(({ name }) => name)).toEqual(['guide'])
  expect(chooseFeatures(await featuresOf({ features: [] }))).toEqual([])
})

const templateOf = async (values: Readonly<Record<string, string | boolean>>) =>
  named(await render(values), 'WorkerPool', 'drape-cpu').spec.template

it.skipIf(chart === null)('workers estimate ages only if ageCheck.enabled', async () => {
  const isAge = ({ name }: Rendered) => name === 'AGE_CHECK'
  expect((await templateOf({})).env.filter(isAge)).toEqual([])
  const { env } = await templateOf({ 'ageCheck.enabled': true })
  expect(env.filter(isAge)).toEqual([{ name: 'AGE_CHECK', value: 'true' }])
})

describe.skipIf(chart === null)('the key that signs receipts', () => {
  const envOf = (objects: readonly Rendered[]) =>
    (named(objects, 'Deployment', 'drape-api').spec.template.spec.containers[0].env as Rendered[])
      .filter(({ name }) => /^(RECEIPT|PROVENANCE)_/.test(name))
      .map(({ valueFrom }) => valueFrom.secretKeyRef)

  it('is generated, and only the API gets the key', async () => {
    const objects = await render({})
    expect(envOf(objects)).toEqual([{ name: 'drape-provenance', key: 'receipts.key' }])
    const keys = generatedSecretsOf(objects).find(({ metadata }) => metadata.name === 'drape-provenance')?.keys ?? {}
    const pem = Buffer.from(generateData(keys)['receipts.key'], 'base64').toString()
    expect(readKeyPair(pem, 'RECEIPT_KEY').isMade).toBe(false)
    expect(JSON.stringify(named(objects, 'WorkerPool', 'drape-cpu'))).not.toContain('receipts.key')
  })

  it('comes from an existing Secret, which may contain one key for both', async () => {
    const existing = { 'provenance.existingSecret': 'mine' }
    expect(envOf(await render(existing))).toEqual([{ name: 'mine', key: 'tls.key' }])
    const objects = await render({ ...existing, 'provenance.receiptKey': 'receipts.pem' })
    expect(envOf(objects)).toEqual([{ name: 'mine', key: 'receipts.pem' }])
  })
})

describe.skipIf(chart === null)('a provider of the API', () => {
  const URLS = {
    'config.captcha.verifyUrl': 'https://captcha.example/siteverify',
    'config.analytics.url': 'https://analytics.example/batch',
  }
  const envOf = (objects: readonly Rendered[]) =>
    named(objects, 'Deployment', 'drape-api').spec.template.spec.containers[0].env as Rendered[]
  const secretOf = (objects: readonly Rendered[], name: string) =>
    envOf(objects).find((variable) => variable.name === name)?.valueFrom.secretKeyRef

  it('gets its secret from an existing Secret', async () => {
    const objects = await render({
      ...URLS,
      'config.captcha.existingSecret': 'mine',
      'config.analytics.existingSecret': 'mine',
    })
    expect(secretOf(objects, 'CAPTCHA_SECRET')).toEqual({ name: 'mine', key: 'captcha-secret' })
    expect(secretOf(objects, 'ANALYTICS_KEY')).toEqual({ name: 'mine', key: 'analytics-key' })
  })

  it('for e-mail gets its URL from an existing Secret, and requires a sender', async () => {
    const secret = { 'config.smtp.existingSecret': 'mine' }
    const objects = await render({ ...secret, 'config.smtp.from': 'Example Ltd <privacy@example.com>' })
    expect(secretOf(objects, 'SMTP_URL')).toEqual({ name: 'mine', key: 'smtp-url' })
    expect(envOf(objects)).toContainEqual({ name: 'MAIL_FROM', value: 'Example Ltd <privacy@example.com>' })
    await expect(render(secret)).rejects.toThrow('config.smtp.existingSecret and config.smtp.from must be set together')
  })

  it('gets its secret from an ExternalSecret', async () => {
    const objects = await render({
      ...URLS,
      'externalSecrets.secretStoreRef.name': 'vault',
      'externalSecrets.keys': { captcha: 'drape/captcha', analytics: 'drape/analytics' },
    })
    for (const [variable, component] of [
      ['CAPTCHA_SECRET', 'captcha'],
      ['ANALYTICS_KEY', 'analytics'],
    ]) {
      const { spec } = named(objects, 'ExternalSecret', `drape-${component}`)
      expect(secretOf(objects, variable)).toEqual({ name: spec.target.name, key: spec.data[0].secretKey })
      expect(spec.data[0].remoteRef.key).toBe(`drape/${component}`)
    }
  })

  it('is rejected without a secret', async () => {
    await expect(render({ 'config.analytics.url': URLS['config.analytics.url'] })).rejects.toThrow(
      'config.analytics.existingSecret',
    )
  })
})
