import { type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import type { SecretPlace } from '../shared/signing/secret-box.ts'

/** Active secrets, newest first. Several can be active, so that secrets rotate without downtime. */
export const LiveSecrets = Type.Array(Type.Object({ secret: Type.String(), createdAt: Type.String() }))
export type LiveSecrets = Static<typeof LiveSecrets>

export const SECRET_TABLES = ['shops', 'webhook_endpoints'] as const

/** A row with a column of live secrets. */
export interface SecretRow {
  readonly table: (typeof SECRET_TABLES)[number]
  readonly id: string
}

/** Column that stores the secrets of the row. */
export function secretsPlace({ table, id }: SecretRow): SecretPlace {
  return { table, column: 'secrets', id }
}

/** Column that stores the authenticator secret of an operator. */
export function factorPlace(id: string): SecretPlace {
  return { table: 'operator_second_factors', column: 'secret', id }
}

/** Seals a secret for storage, active from now on. */
export async function sealSecret(database: Database, secret: string, row: SecretRow) {
  return { secret: await database.secrets.seal(secret, secretsPlace(row)), createdAt: new Date().toISOString() }
}

/** Decrypts stored secrets. */
export function openSecrets(database: Database, stored: LiveSecrets, row: SecretRow): Promise<LiveSecrets> {
  const open = async ({ secret, createdAt }: LiveSecrets[number]) => ({
    secret: await database.secrets.open(secret, secretsPlace(row)),
    createdAt,
  })
  return Promise.all(stored.map(open))
}

/** Replaces the secrets of a row, unless they changed since they were read. */
export async function replaceSecrets(
  database: Database,
  { table, id }: SecretRow,
  { stored, edited }: { stored: LiveSecrets; edited: LiveSecrets },
): Promise<boolean> {
  const { rowCount } = await database.query(sql.unsafe`
    update ${sql.identifier([table])} set secrets = ${sql.jsonb(edited)}
    where id = ${id} and secrets = ${sql.jsonb(stored)}`)
  return rowCount > 0
}

const Row = rowType(Type.Object({ id: Type.String(), secrets: LiveSecrets }))

/** Maximum retries after concurrent changes of the same row. */
const MAX_CONFLICTS = 10

/** Secret to remove. Null: the older one of two. */
export type EndedSecret = string | null

/**
 * Adds a secret; at most 2 can be active. Returns the ID of the row, `refused` when the secret is already active or 2
 * others are, null when the row does not exist.
 */
export function addLiveSecret(database: Database, named: NamedRow, secret: string) {
  return edit(database, named, async (row, { stored, opened }) => {
    if (stored.length >= 2 || opened.some((live) => live.secret === secret)) return null
    return [await sealSecret(database, secret, row), ...stored]
  })
}

/**
 * Removes a secret and keeps at least `min`. Returns the same values as `addLiveSecret`; `refused` when the secret does
 * not exist.
 */
export function removeLiveSecret(
  database: Database,
  named: NamedRow,
  { secret, min }: { secret: EndedSecret; min: number },
) {
  return edit(database, named, async (_, { stored, opened }) => {
    const index = secret === null ? 1 : opened.findIndex((live) => live.secret === secret)
    const closed = opened.find(({ failure }) => failure !== undefined)
    if (index < 0 && closed !== undefined) throw closed.failure
    if (index < 0 || index >= stored.length || stored.length <= min) return null
    return stored.filter((_, i) => i !== index)
  })
}

interface NamedRow {
  readonly table: SecretRow['table']
  readonly where: ReturnType<typeof sql.fragment>
}

/** A decrypted secret, or the reason why decryption failed. */
interface Opened {
  readonly secret: string | null
  readonly failure?: unknown
}

type Edit = (row: SecretRow, secrets: { stored: LiveSecrets; opened: readonly Opened[] }) => Promise<LiveSecrets | null>

async function edit(database: Database, { table, where }: NamedRow, change: Edit): Promise<string | 'refused' | null> {
  for (let i = 0; i < MAX_CONFLICTS; i++) {
    const found = await database.maybeOne(sql.type(Row)`
      select id, secrets from ${sql.identifier([table])} where ${where}`)
    if (found === null) return null
    const { id, secrets: stored } = found
    const row = { table, id }
    // A secret that cannot be decrypted must not block its replacement.
    const opening = stored.map((live): Promise<readonly Opened[]> => {
      return openSecrets(database, [live], row).catch((failure) => [{ secret: null, failure }])
    })
    const edited = await change(row, { stored, opened: (await Promise.all(opening)).flat() })
    if (edited === null) return 'refused'
    if (await replaceSecrets(database, row, { stored, edited })) return id
  }
  throw new Error(`The secrets of ${table} keep changing concurrently. Try again.`)
}
