import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { parse } from 'pg-connection-string'

/** One host of Postgres, as both drivers need it. Parts that the URL lacks come from libpq's variables, such as PGUSER. */
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
  /** Whether a host that refuses writes is as good as unavailable. */
  readonly mustWrite: boolean
}

/** As in libpq, but `prefer` never falls back to plaintext: an attacker could enforce that. */
const SSL_MODES = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full']
/** Parameters that libpq also reads from variables, such as PGSSLMODE. */
const SSL_PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']
const PARAMETERS = [
  ...['host', 'port', 'user', 'password', 'application_name', 'options', 'target_session_attrs', 'ssl'],
  ...SSL_PARAMETERS,
]
const MALFORMED =
  'is not postgres://USER:PASSWORD@HOST:PORT/DATABASE. Write reserved characters in user and password as %XX'
/** Of libpq's. Drape writes, and never connects to a standby. */
const SESSION_ATTRIBUTES = ['read-write', 'primary', 'any']

/**
 * Parses the URL of a database as libpq does, into its hosts in the order of the URL. Reads the files of certificates.
 * @throws Error with the reason in one line, which contains no password
 */
export function parseDatabaseUrl(url: string, env: NodeJS.ProcessEnv = process.env): readonly DatabaseAddress[] {
  if (!/^postgres(ql)?:\/\//.test(url)) throw new Error('must start with postgres://')
  // Everything after it, such as an sslmode, would be ignored.
  if (url.includes('#')) throw new Error(MALFORMED)
  const mark = url.indexOf('?')
  // Unlike in forms, + is no space.
  const parameters = new URLSearchParams(mark < 0 ? '' : url.slice(mark).replaceAll('+', '%2B'))
  assertParameters(parameters, PARAMETERS)
  for (const name of SSL_PARAMETERS) {
    const value = env[`PG${name.toUpperCase()}`]
    if (value && !parameters.has(name)) parameters.set(name, value)
  }
  addSslMode(parameters)
  const attributes = parameters.get('target_session_attrs')
  if (attributes !== null && !SESSION_ATTRIBUTES.includes(attributes))
    throw new Error(`has a target_session_attrs other than ${SESSION_ATTRIBUTES.join(', ')}: Drape writes`)
  const hosts = splitHosts(mark < 0 ? url : url.slice(0, mark), parameters)
  const mustWrite = attributes === 'read-write' || hosts.length > 1
  return hosts.map((text) => ({ ...parseHost(text, env), mustWrite }))
}

/** A URL for each host, because the package that parses them reads one. */
function splitHosts(url: string, parameters: URLSearchParams): string[] {
  const [, start, hosts = '', path] = /^(\w+:\/\/(?:[^/]*@)?)([^/]*)(.*)$/.exec(url) ?? []
  const names = ['host', 'port'].filter((name) => parameters.has(name))
  const lists = [hosts, ...names.map((name) => parameters.get(name) ?? '')].map((list) => list.split(','))
  const count = Math.max(...lists.map(({ length }) => length))
  if (lists.some(({ length }) => length !== 1 && length !== count)) throw new Error('must have a port for each host')
  return Array.from({ length: count }, (_, index) => {
    const [host, ...values] = lists.map((list) => list[index] ?? list[0])
    const query = new URLSearchParams(parameters)
    for (const [i, name] of names.entries()) query.set(name, values[i])
    if (count > 1 && !host && !query.get('host')) throw new Error('has an empty name in its list of hosts')
    return `${start}${host}${path}?${query}`
  })
}

function parseHost(url: string, env: NodeJS.ProcessEnv): Omit<DatabaseAddress, 'mustWrite'> {
  const { host, port, user, password, database, ssl, ...rest } = parseParts(url)
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

/** Throws if a query has another parameter, which the client would ignore, or has one twice. */
export function assertParameters(query: URLSearchParams, known: readonly string[]): void {
  for (const name of query.keys()) {
    if (known.includes(name) && query.getAll(name).length === 1) continue
    if (known.includes(name)) throw new Error(`has ${name} more than once`)
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
    throw new Error(MALFORMED)
  }
}
