import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assertParameters, parseDatabaseUrl } from '../database/address.ts'
import { literalAddress } from './vet-url.ts'

/** Checks of variables whose clients would otherwise retry a wrong address forever, or ignore a part of it. */
const PARSERS: Readonly<Record<string, (text: string) => unknown>> = {
  DATABASE_URL: parseDatabaseUrl,
  DATABASE_DIRECT_URL: parseDatabaseUrl,
  REDIS_URL: assertRedisUrl,
  STORAGE_URL: parseStorageUrl,
}

const NO_URL = 'is not a URL. Write reserved characters in user and password as %XX'

/** What is wrong with the value of a variable that contains an address, in one line without passwords; null if nothing. */
export function findUrlProblem(variable: string, text: string): string | null {
  const parse = PARSERS[variable] ?? (variable.endsWith('_URL') ? parseUrl : null)
  try {
    parse?.(text)
    return null
  } catch (error) {
    return `${variable} ${error instanceof Error ? error.message : String(error)}`
  }
}

export interface SentinelAddress {
  readonly sentinels: readonly { readonly host: string; readonly port: number }[]
  /** By which the Sentinels know the primary. */
  readonly name: string
  /** Of the primary, as `database` is. */
  readonly login: { readonly username?: string; readonly password?: string }
  readonly database: number
  readonly sentinelPassword?: string
  /** Whether connections to the primary and to the Sentinels are encrypted. */
  readonly tls: boolean
}

const SENTINEL_PORT = 26_379

/**
 * Parses `redis+sentinel://user:password@a:26379,b:26379/0?name=mymaster`; null for the address of one server.
 * @throws Error with the reason in one line
 */
export function parseSentinelUrl(text: string): SentinelAddress | null {
  const [, scheme, login = '', hosts, rest] = /^(rediss?)\+sentinel:\/\/([^/?#]*@)?([^/?#]*)(.*)$/s.exec(text) ?? []
  if (scheme === undefined) return null
  // A second login before a host would become part of the password.
  if (/[@,]/.test(login.slice(0, -1))) throw new Error(NO_URL)
  const urls = hosts
    .split(',')
    .map((host) => parseRedisUrl(`${scheme}://${login}${host}${rest.replaceAll('+', '%2B')}`, SENTINEL_PARAMETERS))
  const [{ username, password, pathname, searchParams }] = urls
  const [name, sentinelPassword] = SENTINEL_PARAMETERS.map((parameter) => searchParams.get(parameter) || undefined)
  if (name === undefined) throw new Error('must name the primary, as in ?name=mymaster')
  return {
    sentinels: urls.map((url) => ({
      host: literalAddress(url) ?? url.hostname,
      port: Number(url.port) || SENTINEL_PORT,
    })),
    name,
    login: {
      ...(username && { username: decodeURIComponent(username) }),
      ...(password && { password: decodeURIComponent(password) }),
    },
    database: Number(pathname.slice(1)),
    sentinelPassword,
    tls: scheme === 'rediss',
  }
}

const SENTINEL_PARAMETERS = ['name', 'sentinelPassword']

function assertRedisUrl(text: string): void {
  if (parseSentinelUrl(text) !== null) return
  if (!/^rediss?:\/\//.test(text))
    throw new Error('must start with redis:// or redis+sentinel://, or with rediss for TLS')
  parseRedisUrl(text, [])
}

function parseRedisUrl(text: string, parameters: readonly string[]): URL {
  const url = parseUrl(text)
  const { username, password, hostname, pathname, searchParams } = url
  // The client ignores parameters, also those that ask for TLS.
  assertParameters(searchParams, parameters)
  if (hostname === '') throw new Error('must name a host')
  if (!/^\/?\d*$/.test(pathname)) throw new Error('must end with the number of a database')
  if (!canDecode(username) || !canDecode(password)) throw new Error(NO_URL)
  return url
}

export type StorageAddress =
  | { readonly kind: 'file'; readonly folder: string }
  | {
      readonly kind: 's3'
      readonly bucket: string
      readonly prefix: string
      readonly endpoint?: string
      readonly publicEndpoint?: string
      readonly region: string
      readonly pathStyle: boolean
    }

/**
 * Parses `file:<folder>`, or `s3://<bucket>/<prefix>` with `endpoint`, `publicEndpoint`, `region` (default `us-east-1`) and `pathStyle`
 * in the query.
 * @throws Error with the reason in one line
 */
export function parseStorageUrl(text: string): StorageAddress {
  if (text.startsWith('file:') && text.length > 'file:'.length) return { kind: 'file', folder: folderOf(text) }
  if (!text.startsWith('s3://')) throw new Error('must be file:<folder> or s3://<bucket>/<prefix>')
  const { username, hostname, pathname, searchParams } = parseUrl(text)
  assertParameters(searchParams, ['endpoint', 'publicEndpoint', 'region', 'pathStyle'])
  if (hostname === '') throw new Error('must name a bucket')
  if (username !== '') throw new Error('has credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY')
  const pathStyle = searchParams.get('pathStyle') ?? 'false'
  if (!/^(true|false)$/.test(pathStyle)) throw new Error('has a pathStyle other than true and false')
  const prefix = pathname.replace(/^\/+|\/+$/g, '')
  return {
    kind: 's3',
    bucket: hostname,
    prefix: prefix ? `${prefix}/` : '',
    endpoint: readEndpoint(searchParams, 'endpoint'),
    publicEndpoint: readEndpoint(searchParams, 'publicEndpoint'),
    region: searchParams.get('region') ?? 'us-east-1',
    pathStyle: pathStyle === 'true',
  }
}

function readEndpoint(query: URLSearchParams, name: string): string | undefined {
  const endpoint = query.get(name) ?? undefined
  if (endpoint === undefined || /^https?:$/.test(URL.parse(endpoint)?.protocol ?? '')) return endpoint
  throw new Error(`has the parameter ${name} that is not an http or https URL`)
}

/** Unlike other file URLs, `file:./folder` is relative to the working directory. */
function folderOf(fileUrl: string): string {
  return fileUrl.startsWith('file:/')
    ? fileURLToPath(fileUrl)
    : resolve(decodeURIComponent(fileUrl.slice('file:'.length)))
}

/** The error of URL.parse would contain the password. */
function parseUrl(text: string): URL {
  const url = URL.parse(text)
  // What follows #, such as a parameter, would be ignored.
  if (url === null || url.hash !== '') throw new Error(NO_URL)
  return url
}

function canDecode(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
