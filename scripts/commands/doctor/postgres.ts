import { createStoredSecrets } from '../../../api/secrets/stored-secrets.store.ts'
import { Type } from '../../../api/shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import { checkMigrations } from '../checks/migrations.ts'
import { compareClocks } from './clock.ts'
import { examine, type Finding, ok, problem } from './finding.ts'

/** The first version with `unique nulls not distinct`. */
const OLDEST = 150_000
const Facts = rowType(Type.Object({ version: Type.Integer(), now: Type.Number() }))

/** Examines version, clock and schema of Postgres, and whether the keys decrypt the stored secrets. */
export async function examinePostgres(openDatabase: () => Database): Promise<readonly Finding[]> {
  return examine('postgres', 'Check DATABASE_URL, and that Postgres runs and accepts the role.', async () => {
    const database = openDatabase()
    const before = Date.now()
    const { version, now } = await database.one(sql.type(Facts)`
      select current_setting('server_version_num')::int as version,
        (extract(epoch from clock_timestamp()) * 1000)::float8 as now`)
    const after = Date.now()
    return [
      examineVersion(version),
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
