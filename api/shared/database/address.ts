import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { parse } from 'pg-connection-string'

/** Where Postgres is, as both drivers need it. Parts that the URL lacks come from libpq's variables, such as PGUSER. */
export interface DatabaseAddress {
  /** Host name, IP address, or absolute path of the folder of a Unix socket. */
  readonly host: string
  readonly port?: number
  readonly user?: string
  readonly password?: string
  readonly database?: string
  readonly application_name?: string
  /** Command-line options for the session, such as `-c search_path=shop`. */
  readonly options?: string
  readonly ssl: false | ConnectionOptions
}

/** As in libpq, but `prefer` never falls back to plaintext: an attacker could enforce that. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
/** Parameters that libpq also reads from variables, such as PGSSLMODE. */
const SSL_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']
const PARAMETERS = ['host', 'port', 'user', 'password', 'application_name', 'options', 'ssl', ...SSL_PARAMETERS]

/**
 * Parses the URL of a database as libpq does. Reads the files of certificates.
 * @throws Error with the reason in one line, which contains no password
 */
export function parseDatabaseUrl(url: string, env: NodeJS.ProcessEnv = process.env): DatabaseAddress {
  if (!/^postgres(ql)?:\/\//.test(url)) throw new Error('must start with postgres://')
  const mark = url.indexOf('?')
  // Unlike in forms, + is no space.
  const parameters = new URLSearchParams(mark < 0 ? '' : url.slice(mark).replaceAll('+', '%2B'))
  assertParameters(parameters, PARAMETERS)
  for (const name of SSL_PARAMETERS) {
    const value = env[`PG${name.toUpperCase()}`]
    if (value && !parameters.has(name)) parameters.set(name, value)
  }
  addSslMode(parameters)
  const { host, port, user, password, database, ssl, ...rest } = parseParts(
    `${mark < 0 ? url : url.slice(0, mark)}?${parameters}`,
  )
  if (host?.includes(',')) throw new Error('must name one host: put a proxy in front of several')
  if (port && !/^\d{1,5}$/.test(port)) throw new Error('must have a number as port')
  if (host?.startsWith('/') && ssl) throw new Error('must have no ssl parameter for a Unix socket, which has no TLS')
  return {
    host: host || env.PGHOST || 'localhost',
    ...(port && { port: Number(port) }),
    ...(user && { user }),
    ...(password && { password }),
    ...(database && { database }),
    ...(rest.application_name && { application_name: rest.application_name }),
    ...(rest.options && { options: rest.options }),
    ssl: ssl ? (ssl as ConnectionOptions) : false,
  }
}

/** The address without TLS as a URL, in the only form that slonik parses correctly for sockets and IPv6 too. */
export function presentUrl({ host, port, user, password, database, ...rest }: DatabaseAddress): string {
  const login = user === undefined ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}@`
  const { application_name, options } = rest
  const parameters = new URLSearchParams({
    ...(application_name && { application_name }),
    ...(options && { options }),
  })
  const place = `${encodeURIComponent(host)}${port === undefined ? '' : `:${port}`}`
  return `postgres://${login}${place}/${encodeURIComponent(database ?? '')}?${String(parameters).replaceAll('+', '%20')}`
}

/** Throws if a query has another parameter, which the client would ignore. */
export function assertParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (known.includes(name)) continue
    // After an unescaped ? in a password, the name is a part of the password.
    const shown = /^[\w-]{1,40}$/.test(name) ? `the unknown parameter ${name}` : 'an unknown parameter'
    throw new Error(`has ${shown}${known.length === 0 ? '; it takes none' : `; it takes ${known.join(', ')}`}`)
  }
}

/** Sets `sslmode` where only another parameter asks for TLS. */
function addSslMode(parameters: URLSearchParams): void {
  const ssl = parameters.get('ssl')
  if (ssl !== null && ssl !== 'true') throw new Error('has ssl other than true: use sslmode')
  parameters.delete('ssl')
  const mode = parameters.get('sslmode') ?? (ssl === 'true' ? 'require' : null)
  if (mode !== null && !SSL_MODES.includes(mode)) throw new Error(`has an unknown sslmode: use ${SSL_MODES.join(', ')}`)
  if (mode === 'verify-ca' && !parameters.has('sslrootcert')) throw new Error('needs sslrootcert for sslmode=verify-ca')
  if (parameters.has('sslcert') !== parameters.has('sslkey')) throw new Error('needs sslcert and sslkey together')
  const files = SSL_PARAMETERS.slice(1)
  if (mode === 'disable') for (const name of files) parameters.delete(name)
  for (const name of files) assertReadable(name, parameters.get(name))
  const asked = mode ?? (files.some((name) => parameters.has(name)) ? 'verify-full' : null)
  if (asked !== null) parameters.set('sslmode', asked)
}

function assertReadable(name: string, path: string | null): void {
  try {
    if (path !== null) readFileSync(path)
  } catch {
    throw new Error(`has ${name}=${path}, a file that cannot be read`)
  }
}

function parseParts(url: string) {
  try {
    return parse(url, { useLibpqCompat: true })
  } catch {
    throw new Error(
      'is not postgres://USER:PASSWORD@HOST:PORT/DATABASE. Write reserved characters in user and password as %XX',
    )
  }
}
