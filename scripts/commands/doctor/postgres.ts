import { TLSSocket } from 'node:tls'
import { createStoredSecrets } from '../../../api/secrets/stored-secrets.store.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import { openSession, SESSION_SETTINGS, type Session } from '../../../api/shared/database/session.ts'
import { databaseUrl, directDatabaseUrl } from '../checks/environment.ts'
import { checkMigrations } from '../checks/migrations.ts'
import { compareClocks } from './clock.ts'
import { examine, type Finding, ok, problem } from './finding.ts'

const CONNECT_MS = 5000
/** The first version with `unique nulls not distinct`. */
const OLDEST = 150_000
const Facts = rowType(Type.Object({ version: Type.Integer(), now: Type.Number() }))

/** Examines version, clock and schema of Postgres, and whether the keys decrypt the stored secrets. */
export async function examinePostgres(openDatabase: () => Database): Promise<readonly Finding[]> {
  return examine('postgres', 'Check DATABASE_URL, and that Postgres runs and accepts the role.', async () => {
    const connection = await examineConnection()
    const database = openDatabase()
    const before = Date.now()
    const { version, now } = await database.one(sql.type(Facts)`
      select current_setting('server_version_num')::int as version,
        (extract(epoch from clock_timestamp()) * 1000)::float8 as now`)
    const after = Date.now()
    return [
      examineVersion(version),
      ...connection,
      ...(await examineDirectConnection()),
      compareClocks('postgres clock', { theirs: now, before, after }),
      ...(await examine('migrations', 'Run drape migrate, as the owner of the tables.', async () => {
        await checkMigrations()
        return [ok('migrations', 'the schema is current')]
      })),
      ...(await examine('stored secrets', 'Run drape migrate, then drape doctor again.', () =>
        examineSecrets(database),
      )),
    ]
  })
}

async function examineConnection(): Promise<Finding[]> {
  const session = await openSession(databaseUrl(), { name: 'drape-doctor', connectMs: CONNECT_MS })
  try {
    const pooler = session.isPooled ? [await examinePooler(session)] : []
    return [ok('postgres connection', describeConnection(session)), ...pooler]
  } finally {
    await session.client.end()
  }
}

async function examineDirectConnection(): Promise<readonly Finding[]> {
  const check = 'postgres direct connection'
  const cure = 'Set DATABASE_DIRECT_URL to the address of Postgres itself.'
  return examine(check, cure, async () => {
    const url = directDatabaseUrl()
    if (url === databaseUrl()) return []
    const session = await openSession(url, { name: 'drape-doctor', connectMs: CONNECT_MS })
    await session.client.end()
    return [session.isPooled ? problem(check, 'leads to a pooler', cure) : ok(check, describeConnection(session))]
  })
}

function describeConnection({ client, address: { host, ssl } }: Session): string {
  const { stream } = client.connection
  if (!(stream instanceof TLSSocket)) return `${host}, not encrypted`
  const isNameChecked = ssl !== false && ssl.checkServerIdentity === undefined
  const certificate = isNameChecked ? 'authority and name checked' : 'authority checked, but not the name'
  const isChecked = ssl !== false && ssl.rejectUnauthorized !== false
  return `${host}, ${stream.getProtocol()}, certificate: ${isChecked ? certificate : 'not checked'}`
}

/** Behind a pooler the role, and not the session, has the settings. */
async function examinePooler({ client }: Session): Promise<Finding> {
  const { rows } = await client.query<{ name: string; setting: string; role: string }>(
    'select name, setting, quote_ident(session_user) as role from pg_settings where name = any ($1)',
    [['statement_timeout', ...Object.keys(SESSION_SETTINGS)]],
  )
  const wanted: Readonly<Record<string, string>> = SESSION_SETTINGS
  const wrong = rows.filter(({ name, setting }) =>
    name === 'statement_timeout' ? setting === '0' : setting !== wanted[name],
  )
  const direct = process.env.DATABASE_DIRECT_URL ? '' : '; without DATABASE_DIRECT_URL the controller polls'
  if (wrong.length === 0) return ok('postgres pooler', `statements are not prepared${direct}`)
  const changes = wrong.map(({ name, role }) => `alter role ${role} set ${name} = '${wanted[name] ?? '10s'}'`)
  return problem(
    'postgres pooler',
    `a session behind it has ${wrong.map(({ name, setting }) => `${name} ${setting}`).join(', ')}`,
    `Give the role of each process the settings, then RECONNECT the pooler: ${changes.join('; ')}`,
  )
}

function examineVersion(version: number): Finding {
  const found = `${Math.floor(version / 10_000)}.${version % 10_000}`
  if (version >= OLDEST) return ok('postgres', found)
  return problem('postgres', found, `Upgrade Postgres to ${OLDEST / 10_000} or newer.`)
}

async function examineSecrets(database: Database): Promise<Finding[]> {
  const { opened, closed } = await createStoredSecrets(database).openSamples()
  const cure = 'Set SECRETS_KEY to the key with which the secrets were stored, or restore it from the backup.'
  if (closed.length > 0) return [problem('stored secrets', closed.join(' '), cure)]
  return [
    ok(
      'stored secrets',
      opened === 0 ? 'none is encrypted' : `decrypted with ${opened} ${opened === 1 ? 'key' : 'keys'}`,
    ),
  ]
}
