import type { ChildProcess, ForkOptions } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { DestinationStream } from 'pino'
import { compileCheck, readNumber, type Static, type TSchema, Type } from '../contract/schema.ts'
import { findUrlProblem } from '../network/service-urls.ts'

/** What a program uses of the process that it runs in. */
export interface Host {
  readonly env: NodeJS.ProcessEnv
  readonly pid: number
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown
  once(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown
  exit(code: number): unknown
}

export type Fork = (program: URL, args: readonly string[], options: ForkOptions) => ChildProcess

/** Where a program runs, and what receives its log; default: stdout. */
export interface Surroundings {
  readonly host: Host
  readonly lines?: DestinationStream
  /** What starts the inference processes of a worker; default: `fork` of Node. */
  readonly startInference?: Fork
}

/** Variables that several processes read. */
export const SHARED_VARIABLES = {
  DATABASE_URL: Type.String(),
  /** Past a connection pooler, for notifications and long statements. Empty: DATABASE_URL. */
  DATABASE_DIRECT_URL: Type.String({ default: '' }),
  REDIS_URL: Type.String(),
  STORAGE_URL: Type.String({ default: 'file:./.data/objects' }),
  PROBE_PORT: Type.Integer({ minimum: 0, maximum: 65535, default: 9090 }),
  /** Address on which the probe port listens. Empty: all addresses of the host. */
  PROBE_HOST: Type.String({ default: '' }),
  LOG_LEVEL: Type.Union(
    (['fatal', 'error', 'warn', 'info', 'debug', 'silent'] as const).map((level) => Type.Literal(level)),
    { default: 'info' },
  ),
  NODE_ENV: Type.String({ default: 'production' }),
  PUBLIC_URL: Type.String({ pattern: '^https?://', default: 'http://localhost:8080' }),
  FETCH_ALLOW_CIDRS: Type.String({ default: '', pattern: '^( *[0-9A-Fa-f:.]+/[0-9]{1,3} *(,|$))*$' }),
  /** DNS servers for host names in URLs of callers. Empty: the servers of /etc/resolv.conf. */
  FETCH_DNS_SERVERS: Type.String({ default: '', pattern: '^( *[0-9A-Fa-f:.\\[\\]]+ *(,|$))*$' }),
  FETCH_ALLOW_PORTS: Type.String({ default: '80,443', pattern: '^[0-9]+(,[0-9]+)*$' }),
}

/** Retention of analytics events in days; the API and the sweep must use the same value. */
export const EVENT_RETENTION_DAYS = Type.Integer({ minimum: 1, maximum: 3650, default: 90 })

/** What an operator must change in the environment. A process that cannot start for it exits with 2. */
export class InvalidConfiguration extends Error {
  /** The message in one line. */
  readonly line: string

  constructor(problems: readonly string[]) {
    super(`The configuration is not valid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`)
    this.line = `The configuration is not valid: ${problems.join('; ')}`
  }
}

/** Reads the environment of a process at its start; if it is not valid, prints the reason in one line and exits with 2. */
export function configure<T>(read: (env: NodeJS.ProcessEnv) => T, host: Host = process): T {
  try {
    return read(host.env)
  } catch (error) {
    if (error instanceof InvalidConfiguration) {
      console.error(error.line)
      host.exit(2)
    }
    throw error
  }
}

/**
 * Reads the variables in the schema. Converts numbers; treats empty strings as absent.
 * @throws InvalidConfiguration that lists every problem
 */
export function readConfig<S extends TSchema & { properties: Record<string, TSchema> }>(
  schema: S,
  env: Readonly<Record<string, string | undefined>>,
): Static<S> {
  const values: Record<string, unknown> = {}
  for (const [name, property] of Object.entries(schema.properties)) {
    const text = env[name]
    if (text === undefined || text === '') continue
    values[name] = readNumber(text, property)
  }
  const addresses = Object.entries(values).map(([name, value]) => findUrlProblem(name, String(value)))
  const result = compileCheck(schema)(values)
  const problems = result.ok ? [] : result.problems.map(({ path, message }) => `${path} ${message}`)
  const all = [...problems, ...addresses.filter((problem) => problem !== null)]
  if (all.length > 0 || !result.ok) throw new InvalidConfiguration(all)
  return result.value
}

/**
 * The text of the file that a variable names; empty where it names none.
 * @throws InvalidConfiguration that names the variable
 */
export function readFileOf(variable: string, path: string): string {
  if (path === '') return ''
  try {
    return readFileSync(path, 'utf8')
  } catch {
    throw new InvalidConfiguration([`${variable} cannot be read: ${path}`])
  }
}

/** "a, b" → ["a", "b"]. */
export function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
