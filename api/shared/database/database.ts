import {
  createPool,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type DriverTypeParser,
  type Interceptor,
  type QueryResultRow,
  sql,
} from 'slonik'
import { parseExactJson } from '../exact-json.ts'
import { type RowType, rowType, Type } from '../schema.ts'
import { clearText, type SecretBox } from '../secret-box.ts'
import { unavailable } from './errors.ts'

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

/** The part of slonik's pool that Drape uses. */
export type Database = Pick<DatabasePool, (typeof METHODS)[number]> & {
  /** Seals and opens the secrets that its rows hold. */
  readonly secrets: SecretBox
  /** How many connections are at work and at rest, and how many statements wait for one. */
  countConnections(): { active: number; idle: number; waiting: number }
  end(): Promise<void>
}

/** A timestamptz as the driver hands it over. */
export const Timestamp = Type.Unsafe<Date>({})
/** A jsonb column whose shape is checked elsewhere. */
export const Json = Type.Unsafe<unknown>({})

export { rowType, sql }

/** The time that is as far from now by the clock of the database as the date is by that of this process, which may be wrong. */
export function byDatabaseClock(date: Date) {
  const seconds = (date.getTime() - Date.now()) / 1000
  return sql.fragment`now_ms() + make_interval(secs => ${seconds})`
}

const typeParsers: readonly DriverTypeParser[] = [
  { name: 'timestamptz', parse: (value) => (value === null ? null : new Date(value)) },
  // Of the columns only those that callers read back as they sent them have this type; others are jsonb.
  { name: 'json', parse: (value) => (value === null ? null : parseExactJson(value)) },
  { name: 'int8', parse: (value) => (value === null ? null : Number.parseInt(value, 10)) },
]

// Rows are checked against the type that the query names: a drift between SQL and code fails at its source.
const checkRows: Interceptor = {
  name: 'check-rows',
  transformRow: ({ resultParser }, query, row) => {
    if (!resultParser) return row
    const result = resultParser['~standard'].validate(row) as ReturnType<
      RowType<QueryResultRow>['~standard']['validate']
    >
    if ('value' in result) return result.value
    throw new Error(
      `A row is not what its query promised: ${result.issues.map((i) => i.message).join('; ')} (${query.sql})`,
    )
  },
}

/** More texts than this are no statements of ours but made up each time; they are planned each time. */
const MAX_PREPARED = 1000

/** Gives every statement a name, by which each connection has it parsed and planned once. */
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

/** Later than a statement is cancelled; a connection that says nothing by then is dead. */
const SILENCE_MS = 3000
/** Longer than a process is ever too busy to notice that it is connected: thousands of calls that come at once take it seconds. */
const CONNECT_MS = 5000
/** How much longer a statement may wait for a connection while others are answered. */
const QUEUE_MS = 60_000

/**
 * A pool that is opened by its first statement, so that a process can start while Postgres is away; until then statements throw
 * a retryable `SERVICE_UNAVAILABLE`. A statement that takes longer than `statementSeconds` is cancelled; where not even that is
 * heard of, all connections are given up and made anew. Statements are prepared: a pooler between has to keep them for each
 * client.
 */
export function createDatabase(
  url: string,
  {
    poolSize,
    statementSeconds = 10,
    secrets = clearText,
  }: { poolSize: number; statementSeconds?: number; secrets?: SecretBox },
): Database {
  let opening: Promise<DatabasePool> | null = null
  let opened: DatabasePool | null = null
  const open = () => {
    opening ??= openPool(url, { poolSize, statementSeconds }).then(
      (pool) => {
        opened = pool
        return pool
      },
      (cause) => {
        opening = null
        throw unavailable(cause)
      },
    )
    return opening
  }
  const giveUp = (opened: Promise<DatabasePool>) => {
    if (opening !== opened) return
    opening = null
    opened.then((pool) => pool.end()).catch(() => {})
  }
  const limit = statementSeconds * 1000 + SILENCE_MS
  // A pool of one connection has few statements: none waits for long.
  const queueMs = poolSize > 1 ? QUEUE_MS : 0
  let answeredAt = 0
  const untilSilent = async (work: Promise<unknown>, opened: Promise<DatabasePool>) => {
    const silence = Promise.withResolvers<never>()
    const started = performance.now()
    let timer: NodeJS.Timeout
    let immediate: NodeJS.Immediate
    // Others that are answered meanwhile say that this one waits for a connection, for which it may wait longer.
    const listen = (hasRead: boolean) => {
      const now = performance.now()
      const left = Math.max(started, Math.min(answeredAt, started + queueMs)) + limit - now
      if (left > 0) timer = setTimeout(listen, left, false)
      // A process that was busy has not listened: the answer may have come, and is read before the next immediate.
      else if (!hasRead) immediate = setImmediate(listen, true)
      else {
        if (now - answeredAt >= limit) giveUp(opened)
        silence.reject(unavailable(new Error('The database is silent')))
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
      // A transaction lasts as long as what is done within.
      return name === 'transaction' ? work : untilSilent(work, opened)
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
  const end = async () => (await opening?.catch(() => null))?.end()
  return { ...Object.fromEntries(methods), secrets, countConnections, end } as Database
}

/** A database for stores whose statements are to be part of this transaction. */
export function withinTransaction(database: Database, transaction: DatabaseTransactionConnection): Database {
  const methods = METHODS.map((name) => [name, transaction[name].bind(transaction)])
  return { ...database, ...Object.fromEntries(methods) }
}

async function openPool(
  url: string,
  { poolSize, statementSeconds }: { poolSize: number; statementSeconds: number },
): Promise<DatabasePool> {
  const pool = await createPool(url, {
    captureStackTrace: false,
    connectionRetryLimit: 1,
    connectionTimeout: CONNECT_MS,
    idleTimeout: 60_000,
    interceptors: [prepareStatements(), checkRows],
    maxPoolSize: poolSize,
    // No statement here changes session state, so a connection needs no DISCARD ALL between two users.
    resetConnection: async () => {},
    statementTimeout: statementSeconds * 1000,
    typeParsers,
  })
  // Every error of a statement also rejects its own call; without a listener the event would end the process.
  pool.on('error', () => {})
  return pool
}

/** Resolves when the database answers, rejects with the reason when it does not. */
export async function pingDatabase(database: Database): Promise<void> {
  await database.query(sql.unsafe`select 1`)
}
