import type pg from 'pg'
import { parseDatabaseUrl } from '../../api/shared/database/address.ts'
import { MIGRATION_LOCK } from '../../api/shared/database/migrate.ts'
import { maintain } from '../../api/shared/database/session.ts'
import { UsageError } from './options.ts'

/** Privileges of each process, in the syntax of `grant … to role`. Lists columns if a row contains more data than the process needs. */
const RIGHTS = {
  api: [
    'select, insert, update, delete on all tables in schema :schema',
    'execute on function make_event_partitions(date, date), drop_event_partition(date), settle_generations(text[])',
  ],
  /** Measures the demand and deletes expired data. Locking a row before its deletion requires the privilege to update a column. */
  controller: [
    'select (id, account_id, external_user_id, image_id, mask_image_id, status, engine, options, started_at, finished_at) on generations',
    // An init container waits for the schema.
    'select on migrations',
    'select (generation_id, created_at) on outbox',
    'select, delete, update (expires_at) on objects, proxy_nonces',
    'select (id, object_key) on images',
    'select (id, account_id, images, expires_at), delete, update (expires_at) on products',
    'select (token, expires_at), delete, update (expires_at) on share_links',
    'select (id, expires_at), delete, update (expires_at) on webhook_listeners',
    'select (account_id, route, key, status, created_at, lease_until), delete, update (lease_until) on idempotency_keys',
    'select (id, created_at), delete, update (created_at) on data_requests, product_batches',
    'select (id, endpoint_id, status, created_at), delete, update (created_at) on webhook_deliveries',
    'select (id, given_at, withdrawn_at), delete, update (withdrawn_at) on consents',
    'select, insert, update, delete on hold_policies, legal_holds, published_engines',
    'select (account_id, is_refused, slot, created_at), delete, update (created_at) on request_log',
    'select (id, state, decided_at), delete, update (check_at) on removal_requests',
    'select (generation_id, created_at), delete, update (created_at) on safety_refusals',
    'select (generation_id, state, decided_at) on safety_reviews',
    'select (expires_at), delete on safety_blocks',
    'select, delete, update (erased_at) on erased_customers',
    'select (id, issued_at, requested_at), delete, update (issued_at) on erasures',
    'select (erasure_id), delete on receipt_mails',
    // Records objects without a row, so that the next sweep deletes them.
    'select (id) on accounts',
    'insert (key, account_id, kind, bytes, expires_at) on objects',
    'select, insert, update, delete on recurring_tasks',
    // Commands that use this role, such as a sweep, are audited.
    'select (form), insert on operator_audit',
  ],
} as const

export type GrantedProcess = keyof typeof RIGHTS

export interface Grant {
  readonly process: GrantedProcess
  /** An existing role. */
  readonly role: string
}

/**
 * Parses `api=drape_api,controller=drape_controller`.
 * @throws UsageError on any other format
 */
export function parseGrants(text: string): Grant[] {
  return text.split(',').map((part) => {
    const [process, role] = part.split('=')
    if (!Object.hasOwn(RIGHTS, process) || !role) {
      throw new UsageError(
        `--grant takes a role for each of ${Object.keys(RIGHTS).join(', ')}, as api=ROLE,controller=ROLE`,
      )
    }
    return { process: process as GrantedProcess, role }
  })
}

/**
 * Grants a role the privileges of its process in the database of the URL, and revokes all others on its tables and functions, in one
 * transaction, so that running processes are not affected. Safe to run concurrently. Must be repeated for new tables.
 * @throws UsageError if the role does not exist or owns the tables
 */
export async function grantRights(url: string, { process, role }: Grant): Promise<void> {
  await maintain(url, async (client) => {
    const name = client.escapeIdentifier(role)
    const { schema } = await findRole(client, role)
    // Postgres rejects concurrent changes of the privileges of a table, as by replicas that start concurrently.
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await client.query(`revoke all on all tables in schema ${schema} from ${name}`)
    await client.query(`revoke all on all functions in schema ${schema} from ${name}`)
    await client.query(`grant usage on schema ${schema} to ${name}`)
    for (const right of RIGHTS[process]) await client.query(`grant ${right.replace(':schema', schema)} to ${name}`)
  })
}

/** Environment variables with the database URL of each process. */
export const ROLE_VARIABLES: Readonly<Record<GrantedProcess, string>> = {
  api: 'API_DATABASE_URL',
  controller: 'CONTROLLER_DATABASE_URL',
}

/** The grants for the roles of the URLs in the environment; processes without a URL get none. */
export function readRoleUrls(env: NodeJS.ProcessEnv): (Grant & { readonly password: string })[] {
  return (Object.keys(RIGHTS) as GrantedProcess[]).flatMap((process) => {
    const text = env[ROLE_VARIABLES[process]]
    if (!text) return []
    const { user: role, password } = parseRoleUrl(ROLE_VARIABLES[process], text)
    if (!role || !password) {
      throw new UsageError(`${ROLE_VARIABLES[process]} must be postgres://ROLE:PASSWORD@HOST/DATABASE`)
    }
    return [{ process, role, password }]
  })
}

function parseRoleUrl(variable: string, text: string) {
  try {
    return parseDatabaseUrl(text)[0]
  } catch (error) {
    throw new UsageError(`${variable} ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Creates a role with this password, or sets the password of the existing role. */
export async function ensureRole(
  url: string,
  { role, password }: { readonly role: string; readonly password: string },
): Promise<void> {
  await maintain(url, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    const { rowCount } = await client.query('select from pg_roles where rolname = $1', [role])
    const login = `role ${client.escapeIdentifier(role)} login password ${client.escapeLiteral(password)}`
    await client.query(rowCount === 0 ? `create ${login}` : `alter ${login}`)
  })
}

async function findRole(client: pg.Client, role: string): Promise<{ schema: string }> {
  const { rows } = await client.query<{ schema: string; exists: boolean; owns: boolean }>(
    `select quote_ident(current_schema()) as schema,
      exists (select from pg_roles where rolname = $1) as exists,
      exists (select from pg_tables where schemaname = current_schema() and tableowner = $1) as owns`,
    [role],
  )
  const [{ schema, exists, owns }] = rows
  if (!exists) throw new UsageError(`The role ${role} does not exist: create role ${role} login password '…'`)
  if (owns) throw new UsageError(`${role} owns the tables and can do anything: grant rights to another role`)
  return { schema }
}
