import { readConfig, SHARED_VARIABLES, splitList } from './shared/config.ts'
import { ENGINES, type EngineName } from './shared/generation.ts'
import { type Static, Type } from './shared/schema.ts'

/** Days that analytics events are kept; the API and the sweep have to agree on them. */
export const EVENT_RETENTION_DAYS = Type.Integer({ minimum: 1, maximum: 3650, default: 90 })

const schema = Type.Object({
  ...SHARED_VARIABLES,
  PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 8080 }),
  SHARE_URL: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  SERVICE_NAME: Type.String({ default: 'Drape' }),
  DEFAULT_ENGINE: Type.Enum(Object.keys(ENGINES) as EngineName[], { default: 'warp' }),
  PROXY_HOPS: Type.Integer({ minimum: 0, maximum: 10, default: 0 }),
  EVENT_RETENTION_DAYS,
  ANALYTICS_URL: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  ANALYTICS_KEY: Type.String({ default: '' }),
  LINGER_SECONDS: Type.Optional(Type.Integer({ minimum: 0, maximum: 60 })),
  DATABASE_POOL: Type.Integer({ minimum: 1, maximum: 200, default: 10 }),
  DASHBOARD_PORT: Type.Optional(Type.Integer({ minimum: 1, maximum: 65535 })),
  DASHBOARD_HOST: Type.String({ default: '127.0.0.1' }),
  DASHBOARD_URL: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  DASHBOARD_PROXY_HOPS: Type.Integer({ minimum: 0, maximum: 10, default: 0 }),
  OIDC_ISSUER: Type.String({ pattern: '^(https?://.+)?$', default: '' }),
  OIDC_CLIENT_ID: Type.String({ default: '' }),
  OIDC_CLIENT_SECRET: Type.String({ default: '' }),
  OIDC_SCOPE: Type.String({ pattern: '(^| )openid( |$)', default: 'openid email profile' }),
  OIDC_OPERATORS: Type.String({ pattern: '^([^=,]+=[^,]+(,|$))*$', default: '' }),
  OIDC_TRUST_EMAIL: Type.Enum(['true', 'false'], { default: 'false' }),
})

/** Throws one Error that lists every problem of the environment. */
export function readApiConfig(env: Readonly<Record<string, string | undefined>>) {
  const config = readConfig(schema, env)
  if (config.NODE_ENV !== 'development' && config.SIGNING_SECRET.length < 16) {
    throw new Error(
      'The configuration is not valid:\n  SIGNING_SECRET must have at least 16 characters outside development',
    )
  }
  if ((config.ANALYTICS_URL === '') !== (config.ANALYTICS_KEY === '')) {
    throw new Error('The configuration is not valid:\n  ANALYTICS_URL and ANALYTICS_KEY go together')
  }
  if (config.DASHBOARD_PORT !== undefined && [config.PORT, config.PROBE_PORT].includes(config.DASHBOARD_PORT)) {
    throw new Error('The configuration is not valid:\n  DASHBOARD_PORT must be a port of its own')
  }
  refuseHalfSignOn(config)
  return {
    ...config,
    LINGER_SECONDS: config.LINGER_SECONDS ?? (config.NODE_ENV === 'development' ? 0 : 3),
    SHARE_URL: config.SHARE_URL || config.PUBLIC_URL,
    SIGNING_SECRET: config.SIGNING_SECRET || 'a secret for development only',
    FETCH_ALLOW_CIDRS: splitList(config.FETCH_ALLOW_CIDRS),
    FETCH_ALLOW_PORTS: splitList(config.FETCH_ALLOW_PORTS).map(Number),
  }
}

/** What single sign-on needs, it needs at the start, not when the first operator comes. */
function refuseHalfSignOn(config: Static<typeof schema>): void {
  if (config.OIDC_ISSUER === '') return
  const problems = [
    ...(config.OIDC_CLIENT_ID === '' ? ['OIDC_ISSUER needs OIDC_CLIENT_ID'] : []),
    ...(config.DASHBOARD_URL === ''
      ? ['OIDC_ISSUER needs DASHBOARD_URL, to which the provider sends browsers back']
      : []),
    ...(config.NODE_ENV !== 'development' && config.OIDC_ISSUER.startsWith('http:')
      ? ['OIDC_ISSUER must be https outside development']
      : []),
  ]
  if (problems.length > 0) throw new Error(`The configuration is not valid:\n  ${problems.join('\n  ')}`)
}

export type ApiConfig = ReturnType<typeof readApiConfig>

/** Whether shops may be told by their mere names. */
export function isDevelopment({ NODE_ENV }: ApiConfig): boolean {
  return NODE_ENV === 'development'
}
