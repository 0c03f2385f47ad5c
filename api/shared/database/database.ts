import {
  createPool,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type DriverTypeParser,
  type Interceptor,
  type QueryResultRow,
  sql,
} from 'slonik'
import { DrapeError } from '../contract/errors.ts'
import { parseExactJson } from '../contract/exact-json.ts'
import { type RowType, rowType, Type } from '../contract/schema.ts'
import { clearText, type SecretBox } from '../signing/secret-box.ts'
import { type DatabaseAddress, parseDatabaseUrl, presentUrl } from './address.ts'
import { unavailable } from './errors.ts'
import { connectPrimary } from './primary.ts'
import { openSession, prepareSession, type Session } from './session.ts'

const METHODS = [
  'any',
  'anyFirst',
  'exists',
  'maybeOne',
  'maybeOneFirst',
  'one',
  'oneFirst',
  'query',
  'transaction',
] as const

/** The methods of slonik's pool that Drape uses. */
export type Database = Pick<DatabasePool, (typeof METHODS)[number]> & {
  /** Encrypts and decrypts secrets in rows. */
  readonly secrets: SecretBox
  /** Active and idle connections, and statements that wait for a connection. */
  countConnections(): { active: number; idle: number; waiting: number }
  end(): Promise<void>
}

/** timestamptz as the driver returns it. */
export const Timestamp = Type.Unsafe<Date>({})
/** jsonb column that is validated elsewhere. */
export const Json = Type.Unsafe<unknown>({})

export { rowType, sql }

/**
 * Converts a date by this process's clock to a time by the database's clock, which has the same distance from now. The
 * process's clock may be wrong.
 */
export function byDatabaseClock(date: Date) {
  const seconds = (date.getTime() - Date.now()) / 1000
  return sql.fragment`now_ms() + make_interval(secs => ${seconds})`
}

const typeParsers: readonly DriverTypeParser[] = [
  { name: 'timestamptz', parse: (value) => (value === null ? null : parseTime(value)) },
  // Only columns that return to callers exactly as sent have the type json; others are jsonb.
  { name: 'json', parse: (value) => (value === null ? null : parseExactJson(value)) },
  { name: 'int8', parse: (value) => (value === null ? null : Number.parseInt(value, 10)) },
]

/** Any other format than ISO would be read as another day, or as none. */
function parseTime(text: string): Date {
  if (/^\d{4,}-\d\d-\d\d /.test(text)) return new Date(text)
  throw new Error(`Postgres sent a time that is not ISO 8601: ${text}`)
}

// Checks rows against the type of the query, so that a mismatch of SQL and code fails at its source.
const checkRows: Interceptor = {
  name: 'check-rows',
  transformRow: ({ resultParser }, query, row) => {
    if (!resultParser) return row
    const result = resultParser['~standard'].validate(row) as ReturnType<
      RowType<QueryResultRow>['~standard']['validate']
    >
    if ('value' in result) return result.value
    throw new Error(
      `A row does not match the type of its query: ${result.issues.map((i) => i.message).join('; ')} (${query.sql})`,
    )
  },
}

/** Maximum number of prepared statements. More texts than that are generated at run time; they are not prepared. */
const MAX_PREPARED = 1000

/** Names every statement, so that each connection parses and plans it once. */
function prepareStatements(): Interceptor {
  const names = new Map<string, string>()
  return {
    name: 'prepare-statements',
    transformQuery: (_, query) => {
      const known = names.get(query.sql)
      if (known === undefined && names.size >= MAX_PREPARED) return query
      const name = known ?? `drape_${names.size}`
      names.set(query.sql, name)
      return { ...query, name }
    },
  }
}

/** Exceeds the statement timeout: a connection that has not responded by then is dead. */
const NO_RESPONSE_MS = 3000
/**
 * Exceeds the time for which a process can be too busy to notice that it is connected: thousands of concurrent calls
 * take seconds.
 */
const CONNECT_MS = 5000
/** Additional time that a statement may wait for a connection while other statements get responses. */
const QUEUE_MS = 60_000

/**
 * Creates a pool that connects at the first statement, so that a process can start while Postgres is unavailable; until
 * then statements throw a retryable `SERVICE_UNAVAILABLE`. Cancels a statement after `statementSeconds`. If the
 * connection does not even respond to the cancellation, all connections are replaced. A Postgres in recovery counts as unavailable. Behind
 * a pooler, statements are not prepared and their limit of time is that of the role.
 * @throws Error with the reason for a URL that is not valid
 */
export function createDatabase(
  url: string,
  {
    poolSize,
    statementSeconds = 10,
    secrets = clearText,
  }: { poolSize: number; statementSeconds?: number; secrets?: SecretBox },
): Database {
  // Throws now for a URL that is not valid.
  parseDatabaseUrl(url)
  let opening: Promise<DatabasePool> | null = null
  let opened: DatabasePool | null = null
  let givenUp = Promise.resolve()
  const open = () => {
    if (opening !== null) return opening
    const started: Promise<DatabasePool> = openPool(url, { poolSize, statementSeconds }).then(
      (pool) => {
        if (opening === started) opened = pool
        return pool
      },
      (cause) => {
        if (opening === started) opening = null
        throw unavailable(cause)
      },
    )
    opening = started
    return started
  }
  const giveUp = (given: Promise<DatabasePool>) => {
    if (opening !== given) return
    opening = null
    // Answered before these connections were opened; a question that others still wait for may be answered yet.
    if (opened !== null) answers.delete(url)
    opened = null
    // The end of a pool waits for its connections, of which a silent server closes none.
    const left = given.then((pool) => void pool.end().catch(() => {})).catch(() => {})
    givenUp = givenUp.then(() => left)
  }
  const limit = statementSeconds * 1000 + NO_RESPONSE_MS
  // A pool of one connection has few statements, none of which waits for long.
  const queueMs = poolSize > 1 ? QUEUE_MS : 0
  let answeredAt = 0
  const withResponseTimeout = async (work: Promise<unknown>, opened: Promise<DatabasePool>) => {
    const silence = Promise.withResolvers<never>()
    const started = performance.now()
    let timer: NodeJS.Timeout
    let immediate: NodeJS.Immediate
    // Responses to other statements show that this statement waits for a connection, so its time limit is extended.
    const listen = (hasRead: boolean) => {
      const now = performance.now()
      const left = Math.max(started, Math.min(answeredAt, started + queueMs)) + limit - now
      if (left > 0) timer = setTimeout(listen, left, false)
      // While the process was busy it did not read its sockets: the response may have arrived and is read before the
      // next immediate.
      else if (!hasRead) immediate = setImmediate(listen, true)
      else {
        if (now - answeredAt >= limit) giveUp(opened)
        silence.reject(unavailable(new Error('The database does not respond')))
      }
    }
    listen(false)
    const answered = () => {
      answeredAt = performance.now()
    }
    work.then(answered, () => {})
    return Promise.race([work, silence.promise]).finally(() => {
      clearTimeout(timer)
      clearImmediate(immediate)
    })
  }
  const methods = METHODS.map((name) => {
    const method = (...args: unknown[]) => {
      const opened = open()
      const work = opened.then((pool) => (pool[name] as (...args: unknown[]) => Promise<unknown>)(...args))
      // A transaction lasts as long as the work inside.
      return name === 'transaction' ? work : withResponseTimeout(work, opened)
    }
    return [name, method]
  })
  const countConnections = () => {
    const state = opened?.state()
    return {
      active: state?.acquiredConnections ?? 0,
      idle: state?.idleConnections ?? 0,
      waiting: state?.waitingClients ?? 0,
    }
  }
  const end = async () => {
    // A pool that still opens would connect after the end.
    await givenUp
    await (await opening?.catch(() => null))?.end()
  }
  return { ...Object.fromEntries(methods), secrets, countConnections, end } as Database
}

/** A database for stores whose statements are part of this transaction. */
export function withinTransaction(database: Database, transaction: DatabaseTransactionConnection): Database {
  const methods = METHODS.map((name) => [name, transaction[name].bind(transaction)])
  return { ...database, ...Object.fromEntries(methods) }
}

interface HostAnswer extends Pick<Session, 'isPooled'> {
  /** The host that answered first, so that no pool waits for the others. */
  readonly addresses: readonly DatabaseAddress[]
}
/** By URL: the pools of a process ask once, also a pool that gives up before a silent host is given up. */
const answers = new Map<string, Promise<HostAnswer>>()

function askHosts(url: string): Promise<HostAnswer> {
  const asked = answers.get(url) ?? askAnew(url)
  answers.set(url, asked)
  asked.catch(() => answers.delete(url))
  return asked
}

async function askAnew(url: string): Promise<HostAnswer> {
  const { client, address, addresses, isPooled } = await openSession(url, { connectMs: CONNECT_MS })
  // Its end waits for a host that may be silent by now.
  client.end().catch(() => {})
  return { isPooled, addresses: [address, ...addresses.filter((other) => other !== address)] }
}

async function openPool(
  url: string,
  { poolSize, statementSeconds }: { poolSize: number; statementSeconds: number },
): Promise<DatabasePool> {
  const { addresses, isPooled } = await askHosts(url)
  const pool = await createPool(presentUrl(addresses[0]), {
    captureStackTrace: false,
    connectionRetryLimit: 1,
    connectionTimeout: CONNECT_MS,
    idleTimeout: 60_000,
    driverFactory: connectPrimary(addresses, prepareSession({ statementSeconds, isPooled })),
    // A pooler gives each transaction another session, in which the same name can mean another statement or none.
    interceptors: [...(isPooled ? [] : [prepareStatements()]), checkRows],
    maxPoolSize: poolSize,
    // No statement here changes session state, so connections need no DISCARD ALL before reuse.
    resetConnection: async () => {},
    // Poolers refuse both as parameters of the start; each connection sets them.
    statementTimeout: 'DISABLE_TIMEOUT',
    idleInTransactionSessionTimeout: 'DISABLE_TIMEOUT',
    typeParsers,
  })
  // A failing statement already rejects its own call; without this listener the event would end the process.
  pool.on('error', () => {})
  return pool
}

/** Resolves when the database responds. Throws the reason otherwise. */
export async function pingDatabase(database: Database): Promise<void> {
  try {
    await database.query(sql.unsafe`select 1`)
  } catch (error) {
    // Callers of the API do not get the reason; operators need it.
    throw error instanceof DrapeError && error.cause instanceof Error ? error.cause : error
  }
}
