import { type Static, Type } from './shared/contract/schema.ts'
import { createDatabase } from './shared/database/database.ts'
import { DEFAULT_ENGINE, WORKER_ENGINES } from './shared/engines/engine-catalogue.ts'
import { engineName, readEngines } from './shared/engines/engine-names.ts'
import {
  EVENT_RETENTION_DAYS,
  InvalidConfiguration,
  readConfig,
  readFileOf,
  SHARED_VARIABLES,
  type Surroundings,
  splitList,
} from './shared/process/config.ts'
import { createLifecycle } from './shared/process/lifecycle.ts'
import { createSubscriptions } from './shared/queue/pub-sub.ts'
import { createRedis } from './shared/queue/redis.ts'
import type { SecretBox } from './shared/signing/secret-box.ts'
import { signingKeysOf } from './shared/signing/signing.ts'
import { createStorage } from './shared/storage/storage.ts'
import { createLog } from './shared/telemetry/log.ts'
import { measureStorage, watchConnections } from './shared/telemetry/measured.ts'
import { createMetrics } from './shared/telemetry/metrics.ts'
import { startTelemetry } from './shared/telemetry/telemetry.ts'

const schema = Type.Object({
  ...SHARED_VARIABLES,
  SIGNING_SECRET: Type.String({ default: '' }),
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8080 }),
  /** Names of extensions, separated by commas; `all`, or `none`. */
  FEATURES: Type.String({ default: 'all' }),
  SHARE_URL: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  SERVICE_NAME: Type.String({ default: 'Drape' }),
  /** Who runs the installation, for the privacy pages of shops; the name of the service when empty. */
  PRIVACY_PROCESSOR: Type.String({ default: '' }),
  DEFAULT_ENGINE: engineName({ default: DEFAULT_ENGINE }),
  /** Engines of workers outside of WorkerPools. */
  ENGINES: Type.String({ default: WORKER_ENGINES.join(',') }),
  PROXY_HOPS: Type.Integer({ minimum: 0, maximum: 10, default: 0 }),
  EVENT_RETENTION_DAYS,
  CAPTCHA_VERIFY_URL: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  CAPTCHA_SECRET: Type.String({ default: '' }),
  LEAD_RETENTION_DAYS: Type.Integer({ minimum: 1, maximum: 36_500, default: 730 }),
  EVENTS_PER_MINUTE: Type.Integer({ minimum: 10, maximum: 100_000_000, default: 12_000 }),
  ANALYTICS_URL: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  ANALYTICS_KEY: Type.String({ default: '' }),
  /** Maximum megabytes of request bodies on the disk of one process. */
  UPLOAD_DISK_MB: Type.Integer({ minimum: 64, maximum: 1_000_000, default: 1024 }),
  LINGER_SECONDS: Type.Optional(Type.Integer({ minimum: 0, maximum: 60 })),
  /** Signs receipts of erasures. */
  RECEIPT_KEY: Type.String({ default: '' }),
  RECEIPT_KEY_FILE: Type.String({ default: '' }),
  /** Server that sends e-mails: receipts of erasures, notices to accounts. */
  SMTP_URL: Type.String({ default: '' }),
  SMTP_URL_FILE: Type.String({ default: '' }),
  MAIL_FROM: Type.String({ default: '' }),
  DATABASE_POOL: Type.Integer({ minimum: 1, maximum: 200, default: 10 }),
  DASHBOARD_PORT: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
  DASHBOARD_HOST: Type.String({ default: '127.0.0.1' }),
  DASHBOARD_URL: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  DASHBOARD_PROXY_HOPS: Type.Integer({ minimum: 0, maximum: 10, default: 0 }),
  DASHBOARD_PASSWORD_SIGN_IN: Type.Enum(['true', 'false'], { default: 'true' }),
  DASHBOARD_SECOND_FACTOR: Type.Optional(Type.Enum(['optional', 'admin', 'all'])),
  OIDC_ISSUER: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  OIDC_CLIENT_ID: Type.String({ default: '' }),
  OIDC_CLIENT_SECRET: Type.String({ default: '' }),
  OIDC_SCOPE: Type.String({ pattern: '(^| )openid( |$)', default: 'openid email profile' }),
  OIDC_OPERATORS: Type.String({ pattern: '^([^=,]+=[^,]+(,|$))*$', default: '' }),
  OIDC_ROLES: Type.String({ pattern: '^([^=,]+=[^,]+:(viewer|support|billing|admin)(,|$))*$', default: '' }),
  OIDC_TRUST_EMAIL: Type.Enum(['true', 'false'], { default: 'false' }),
})

/** Throws one Error that lists every problem of the environment. */
export function readApiConfig(env: Readonly<Record<string, string | undefined>>) {
  const config = readConfig(schema, env)
  refuseWeakSigningKeys(config)
  if ((config.CAPTCHA_VERIFY_URL === '') !== (config.CAPTCHA_SECRET === '')) {
    throw new InvalidConfiguration(['CAPTCHA_VERIFY_URL and CAPTCHA_SECRET must be set together'])
  }
  if ((config.ANALYTICS_URL === '') !== (config.ANALYTICS_KEY === '')) {
    throw new InvalidConfiguration(['ANALYTICS_URL and ANALYTICS_KEY must be set together'])
  }
  if (config.DASHBOARD_PORT !== undefined && [config.PORT, config.PROBE_PORT].includes(config.DASHBOARD_PORT)) {
    throw new InvalidConfiguration(['DASHBOARD_PORT must differ from the other ports'])
  }
  if (config.DASHBOARD_PASSWORD_SIGN_IN === 'false' && config.OIDC_ISSUER === '') {
    throw new InvalidConfiguration([
      'DASHBOARD_PASSWORD_SIGN_IN=false needs OIDC_ISSUER: otherwise operators cannot sign in',
    ])
  }
  if ((config.SMTP_URL + config.SMTP_URL_FILE === '') !== (config.MAIL_FROM === '')) {
    throw new InvalidConfiguration(['SMTP_URL and MAIL_FROM must be set together'])
  }
  refuseIncompleteSignOn(config)
  return {
    ...config,
    DATABASE_DIRECT_URL: config.DATABASE_DIRECT_URL || config.DATABASE_URL,
    LINGER_SECONDS: config.LINGER_SECONDS ?? (config.NODE_ENV === 'development' ? 0 : 3),
    DASHBOARD_SECOND_FACTOR:
      config.DASHBOARD_SECOND_FACTOR ??
      (config.NODE_ENV === 'development' ? ('optional' as const) : ('admin' as const)),
    SHARE_URL: config.SHARE_URL || config.PUBLIC_URL,
    RECEIPT_KEY: config.RECEIPT_KEY || readFileOf('RECEIPT_KEY_FILE', config.RECEIPT_KEY_FILE),
    SMTP_URL: (config.SMTP_URL || readFileOf('SMTP_URL_FILE', config.SMTP_URL_FILE)).trim(),
    SIGNING_SECRET: config.SIGNING_SECRET || 'a secret for development only',
    ENGINES: readEngines(config.ENGINES),
    FETCH_ALLOW_CIDRS: splitList(config.FETCH_ALLOW_CIDRS),
    FETCH_DNS_SERVERS: splitList(config.FETCH_DNS_SERVERS),
    FETCH_ALLOW_PORTS: splitList(config.FETCH_ALLOW_PORTS).map(Number),
  }
}

/** Several keys, separated by commas: the first signs, all verify. */
function refuseWeakSigningKeys({ NODE_ENV, SIGNING_SECRET }: Static<typeof schema>): void {
  const keys = signingKeysOf(SIGNING_SECRET)
  if (NODE_ENV === 'development' || (keys.length > 0 && keys.every(({ length }) => length >= 16))) return
  throw new InvalidConfiguration([
    'SIGNING_SECRET must be keys of at least 16 characters each, separated by commas, outside development',
  ])
}

/** Missing settings of single sign-on fail at start-up, not at the first sign-in. */
function refuseIncompleteSignOn(config: Static<typeof schema>): void {
  if (config.OIDC_ISSUER === '') return
  const problems = [
    ...(config.OIDC_CLIENT_ID === '' ? ['OIDC_ISSUER needs OIDC_CLIENT_ID'] : []),
    ...(config.DASHBOARD_URL === ''
      ? ['OIDC_ISSUER needs DASHBOARD_URL, to which the provider redirects browsers']
      : []),
    ...(config.NODE_ENV !== 'development' && config.OIDC_ISSUER.startsWith('http:')
      ? ['OIDC_ISSUER must be https outside development']
      : []),
  ]
  if (problems.length > 0) throw new InvalidConfiguration(problems)
}

export type ApiConfig = ReturnType<typeof readApiConfig>

/** Whether a shop's name alone authenticates it. */
export function isDevelopment({ NODE_ENV }: ApiConfig): boolean {
  return NODE_ENV === 'development'
}

/** What all parts of the process share. */
export type Connections = Awaited<ReturnType<typeof openConnections>>

/** Opens the connections of the process and registers their ends. */
export async function openConnections(config: ApiConfig, secrets: SecretBox, { host, lines }: Surroundings) {
  const log = createLog({ process: 'api', level: config.LOG_LEVEL, lines })
  const sendMail =
    config.SMTP_URL === ''
      ? null
      : (await import('./accounts/smtp.ts')).createSendMail({ url: config.SMTP_URL, from: config.MAIL_FROM })
  const lifecycle = createLifecycle({ log, graceSeconds: 20, host })
  const metrics = createMetrics('api')
  const telemetry = await startTelemetry({
    service: 'drape-api',
    env: host.env,
    onFault: (reason) => log.warn({ reason }, 'telemetry export failed'),
  })
  lifecycle.onStop('telemetry', () => telemetry.stop())
  const database = createDatabase(config.DATABASE_URL, { poolSize: config.DATABASE_POOL, secrets })
  lifecycle.onStop('database', () => database.end())
  watchConnections(database, metrics)
  // Separate connections: callers never wait for deliveries, receipts and other work in the background.
  const backgroundDatabase = createDatabase(config.DATABASE_URL, { poolSize: 2, secrets })
  lifecycle.onStop('background database', () => backgroundDatabase.end())
  const redis = createRedis(config.REDIS_URL, { role: 'producer', log })
  lifecycle.onStop('redis', () => redis.close())
  const subscriptions = createSubscriptions(() => createRedis(config.REDIS_URL, { role: 'subscriber', log }))
  lifecycle.onStop('subscriptions', () => subscriptions.close())
  const storage = measureStorage(
    await createStorage(config.STORAGE_URL, {
      publicUrl: config.PUBLIC_URL,
      signingSecret: config.SIGNING_SECRET,
      onFallback: (reason) => log.warn(reason),
    }),
    metrics,
  )
  lifecycle.onStop('storage', () => storage.close())
  // Of an object that never exists: shows at the start, and not at the first erasure, whether objects can be deleted.
  storage
    .delete(['checks/none.bin'])
    .catch((error) =>
      log.error({ err: error }, 'the storage cannot delete objects: erasures and retention wait for it'),
    )
  return {
    config,
    secrets,
    log,
    lifecycle,
    metrics,
    database,
    backgroundDatabase,
    redis,
    subscriptions,
    storage,
    sendMail,
  }
}
