import pg from 'pg'
import { type DatabaseAddress, parseDatabaseUrl } from './address.ts'

/**
 * Settings that change what our statements do, or how the values look that the driver parses. The server, the database and the role can
 * each have other defaults, so every connection sets them. Not listed because nothing depends on them: `client_encoding`, which the
 * driver sends at the start; `bytea_output`, whose formats the driver parses both; `IntervalStyle`, `backslash_quote`, `xmlbinary` and
 * `lc_*`, which no statement uses. `default_transaction_read_only` is left to the operator: managed services turn it on to protect a
 * full disk.
 */
export const SESSION_SETTINGS = {
  array_nulls: 'on',
  default_transaction_isolation: 'read committed',
  // Events are joined with their batches day by day, and not by reading all events of the days.
  enable_partitionwise_join: 'on',
  extra_float_digits: '1',
  quote_all_identifiers: 'off',
  idle_session_timeout: '0',
  // Compiling a statement takes longer than any of ours runs: planners overestimate those that claim jobs.
  jit: 'off',
  lock_timeout: '0',
  transaction_timeout: '0',
}
/** Postgres reports them to its clients, so a pooler in transaction mode sets them again. Therefore times depend only on them. */
const REPORTED_SETTINGS = { DateStyle: 'ISO, YMD', TimeZone: 'UTC', standard_conforming_strings: 'on' }
/** A transaction that does nothing for this long is dead. */
const IDLE_IN_TRANSACTION_MS = 60_000

/** The schema of the tables: that of the search path, otherwise the only schema that has them; before the first migration the search path. */
const SCHEMA = `coalesce(
  (select relnamespace::regnamespace::text from pg_class where oid = to_regclass('generations')),
  (select min(relnamespace::regnamespace::text) from pg_class where relname = 'generations' and relkind = 'r' having count(*) = 1),
  current_setting('search_path'))`
/** What `assertPrimary` reads. */
const FACTS = `pg_is_in_recovery() as "isInRecovery", current_setting('transaction_read_only') = 'on' as "isReadOnly"`

/**
 * Statement that prepares a connection of a pool and returns what `assertPrimary` reads. Behind a pooler in transaction mode a session
 * would leave its settings to other sessions, so there the role has those that no pooler tracks; `drape doctor` compares them.
 */
export function prepareSession({
  statementSeconds,
  isPooled,
}: {
  statementSeconds: number
  isPooled: boolean
}): string {
  if (isPooled) return `select ${FACTS}, ${setEach(REPORTED_SETTINGS, { isLocal: false })}`
  const limits = {
    statement_timeout: String(statementSeconds * 1000),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
  }
  return prepare({ ...REPORTED_SETTINGS, ...SESSION_SETTINGS, ...limits }, { isLocal: false })
}

function prepare(settings: Readonly<Record<string, string>>, { isLocal }: { isLocal: boolean }): string {
  return `select ${FACTS}, set_config('search_path', ${SCHEMA}, ${isLocal}), ${setEach(settings, { isLocal })}`
}

function setEach(settings: Readonly<Record<string, string>>, { isLocal }: { isLocal: boolean }): string {
  const rows = Object.entries(settings).map(([name, value]) => `('${name}', '${value}')`)
  // Some versions lack a setting.
  return `(select count(set_config(name, value, ${isLocal})) from (values ${rows.join(', ')}) as wanted (name, value)
    where current_setting(name, true) is not null)`
}

/** Throws for a Postgres that shows an earlier state or, where that is required, refuses writes. */
export function assertPrimary(facts: Readonly<Record<string, unknown>>, { mustWrite }: DatabaseAddress): void {
  if (facts.isInRecovery !== false) throw new Error('Postgres is in recovery')
  if (mustWrite && facts.isReadOnly !== false) throw new Error('Postgres is read-only')
}

/**
 * The first result, in the order of the hosts.
 * @throws the error of the only host, or an AggregateError with the reason of each
 */
export async function tryHosts<T>(
  addresses: readonly DatabaseAddress[],
  connect: (address: DatabaseAddress) => Promise<T>,
): Promise<T> {
  const failures: unknown[] = []
  for (const address of addresses) {
    try {
      return await connect(address)
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length === 1) throw failures[0]
  const reasons = failures.map((error, i) => `${addresses[i].host}: ${error instanceof Error ? error.message : error}`)
  throw new AggregateError(failures, reasons.join('; '))
}

export interface Session {
  readonly client: pg.Client
  /** The host to which it is connected, and all of the URL. */
  readonly address: DatabaseAddress
  readonly addresses: readonly DatabaseAddress[]
  /** Whether there is a pooler in between: it invents the process ID that it sends at the start. */
  readonly isPooled: boolean
}

/** Connects without a pool, to the first host that is a primary. The caller ends the connection. */
export async function openSession(
  url: string,
  { name = 'drape', connectMs }: { name?: string; connectMs?: number } = {},
): Promise<Session> {
  const addresses = parseDatabaseUrl(url)
  return tryHosts(addresses, async (address) => {
    const client = new pg.Client({ application_name: name, ...address, connectionTimeoutMillis: connectMs })
    // Without a listener, an error of the idle connection would end the process; the next statement throws it.
    client.on('error', () => {})
    await client.connect()
    // The limit of the driver ends here.
    const giveUp = connectMs && setTimeout(() => client.connection.stream.destroy(), connectMs)
    try {
      const { rows } = await client.query(`select ${FACTS}, pg_backend_pid() as "processId"`)
      assertPrimary(rows[0], address)
      const { processID } = client as pg.Client & { readonly processID: number | null }
      return { client, address, addresses, isPooled: rows[0].processId !== processID }
    } catch (error) {
      await client.end().catch(() => {})
      throw error
    } finally {
      clearTimeout(giveUp)
    }
  })
}

/**
 * Runs maintenance in one transaction, without limits of time. Its settings end with the transaction, so it also works through a pooler.
 */
export async function maintain<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
  { connectMs }: { connectMs?: number } = {},
): Promise<T> {
  const { client } = await openSession(url, { name: 'drape-migrate', connectMs })
  const unlimited = { statement_timeout: '0', idle_in_transaction_session_timeout: '0' }
  const settings = { ...REPORTED_SETTINGS, ...SESSION_SETTINGS, ...unlimited }
  try {
    await client.query('begin')
    await client.query(prepare(settings, { isLocal: true }))
    const result = await work(client)
    await client.query('commit')
    return result
  } finally {
    // Closing the connection rolls back what is not committed.
    await client.end()
  }
}
