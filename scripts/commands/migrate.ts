import { createDatabase } from '../../api/shared/database/database.ts'
import { migrate } from '../../api/shared/database/migrate.ts'
import { createLegalHolds } from '../../api/shared/retention/legal-holds.store.ts'
import { noteAct } from './audit.ts'
import { directDatabaseUrl } from './checks/environment.ts'
import { within } from './checks/within.ts'
import type { FreeCommand } from './command.ts'
import { ensureRole, type Grant, grantRights, parseGrants, readRoleUrls } from './database-rights.ts'
import { type Options, option } from './options.ts'

export const migrateCommand: FreeCommand = {
  summary: 'migrate the database, and grant roles only the privileges that their processes need',
  options: [
    option('--wait-seconds <n>', 'seconds to wait for a database that is starting (default: 0)'),
    option('--grant <process=role,…>', 'grant the privileges of processes (api, worker, controller) to roles'),
    option('--await-legal-holds', 'delete no image until the controller has published the legal holds of its policies'),
    option(
      '--create-roles',
      'create the roles of API_DATABASE_URL and CONTROLLER_DATABASE_URL first, and grant their privileges',
    ),
  ],
  run: (options) => migrateWhenReady(directDatabaseUrl(), options),
}

async function migrateWhenReady(url: string, options: Options): Promise<{ applied: string[]; granted?: Grant[] }> {
  const roles = options['create-roles'] ? readRoleUrls(process.env) : []
  const created = roles.map(({ process, role }) => ({ process, role }))
  const granted = [...created, ...(options.grant ? parseGrants(options.grant) : [])]
  const applied = await within(options, 0, async () => {
    // Before the schema, because the processes of the roles wait for it.
    for (const role of roles) await ensureRole(url, role)
    return migrate(url)
  })
  if (options['await-legal-holds']) await awaitLegalHolds(url)
  for (const grant of granted) await grantRights(url, grant)
  if (applied.length > 0) await noteMigration(url, options.actor, { applied, granted })
  return granted.length === 0 ? { applied } : { applied, granted }
}

async function awaitLegalHolds(url: string): Promise<void> {
  const database = createDatabase(url, { poolSize: 1 })
  await createLegalHolds(database)
    .awaitPublication()
    .finally(() => database.end())
}

async function noteMigration(
  url: string,
  actor: string | undefined,
  { applied, granted }: { applied: readonly string[]; granted: readonly Grant[] },
): Promise<void> {
  const database = createDatabase(url, { poolSize: 1 })
  try {
    const roles = granted.map(({ process, role }) => `${process}=${role}`).join(' ')
    await noteAct(database, actor, { action: 'migrate', object: null, details: { applied: applied.join(' '), roles } })
  } finally {
    await database.end()
  }
}
