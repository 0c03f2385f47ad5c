import { Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import { readSealed, type SecretPlace, sealedPrefix } from '../shared/signing/secret-box.ts'
import { tokenPlace } from '../shops/shops.store.ts'
import {
  factorPlace,
  LiveSecrets,
  replaceSecrets,
  SECRET_TABLES,
  type SecretRow,
  secretsPlace,
} from './live-secrets.store.ts'

const BATCH = 100

const SecretsRow = rowType(Type.Object({ id: Type.String(), secrets: LiveSecrets }))
const TextRow = rowType(Type.Object({ id: Type.String(), stored: Type.String() }))

/** Columns with one secret per row. */
const TEXTS = [
  { table: 'shops', idColumn: 'id', column: 'admin_token', placeOf: (id: string) => tokenPlace(id) },
  {
    table: 'shops',
    idColumn: 'id',
    column: 'admin_access_token',
    placeOf: (id: string) => tokenPlace(id, 'admin_access_token'),
  },
  { table: 'operator_second_factors', idColumn: 'operator_id', column: 'secret', placeOf: factorPlace },
] as const

/** Counts of stored secrets by encryption key; `clear`: not encrypted. */
export type SecretCounts = Readonly<Record<string, number>>

export type StoredSecrets = ReturnType<typeof createStoredSecrets>

/** Maintains all secrets in the database, of any kind. */
export function createStoredSecrets(database: Database) {
  return {
    /**
     * Encrypts with the current key every secret that is unencrypted or encrypted with another key. Safe to run
     * concurrently and while secrets change. Returns the count of rewritten secrets; 0 without a key.
     */
    rewrap: async (): Promise<number> => {
      const { keyId } = database.secrets
      if (keyId === null) return 0
      let count = 0
      for (const table of SECRET_TABLES) {
        for await (const { id, secrets: stored } of walk(database, table, keyId)) {
          const place = secretsPlace({ table, id })
          const rewrapped = await Promise.all(stored.map(({ secret }) => database.secrets.rewrap(secret, place)))
          const edited = stored.map((live, i) => ({ ...live, secret: rewrapped[i] ?? live.secret }))
          const changes = rewrapped.filter((secret) => secret !== null).length
          if (changes > 0 && (await replaceSecrets(database, { table, id }, { stored, edited }))) count += changes
        }
      }
      for (const texts of TEXTS) {
        const [idColumn, column] = [sql.identifier([texts.idColumn]), sql.identifier([texts.column])]
        for await (const { id, stored } of walkTexts(database, texts, keyId)) {
          const rewrapped = await database.secrets.rewrap(stored, texts.placeOf(id))
          if (rewrapped === null) continue
          const { rowCount } = await database.query(sql.unsafe`
            update ${sql.identifier([texts.table])} set ${column} = ${rewrapped}
            where ${idColumn} = ${id} and ${column} = ${stored}`)
          count += rowCount
        }
      }
      return count
    },

    /**
     * Decrypts one secret per encryption key. Returns the number of keys that succeeded, and the errors of the others.
     */
    openSamples: async (): Promise<{ opened: number; closed: string[] }> => {
      const tried = new Set<string>()
      const closed: string[] = []
      const open = async (stored: string, place: SecretPlace) => {
        const keyId = readSealed(stored)?.keyId
        if (keyId === undefined || tried.has(keyId)) return
        tried.add(keyId)
        await database.secrets.open(stored, place).catch((error: Error) => closed.push(error.message))
      }
      for (const table of SECRET_TABLES) {
        for await (const { id, secrets } of walk(database, table)) {
          for (const { secret } of secrets) await open(secret, secretsPlace({ table, id }))
        }
      }
      for (const texts of TEXTS) {
        for await (const { id, stored } of walkTexts(database, texts)) await open(stored, texts.placeOf(id))
      }
      return { opened: tried.size - closed.length, closed }
    },

    count: async (): Promise<SecretCounts> => {
      const counts: Record<string, number> = {}
      const add = (stored: string) => {
        const key = readSealed(stored)?.keyId ?? 'clear'
        counts[key] = (counts[key] ?? 0) + 1
      }
      for (const table of SECRET_TABLES) {
        for await (const { secrets } of walk(database, table)) for (const { secret } of secrets) add(secret)
      }
      for (const texts of TEXTS) for await (const { stored } of walkTexts(database, texts)) add(stored)
      return counts
    },
  }
}

/** Iterates a table in batches, by ID. With a key: only the rows with a secret that this key does not encrypt. */
async function* walk(database: Database, table: SecretRow['table'], keyId: string | null = null) {
  const prefix = keyId && sealedPrefix(keyId)
  let after = ''
  for (;;) {
    const rows = await database.any(sql.type(SecretsRow)`
      select id, secrets from ${sql.identifier([table])}
      where id > ${after} and exists (
        select from jsonb_array_elements(secrets) as live
        where ${prefix}::text is null or not starts_with(live->>'secret', ${prefix})
      )
      order by id limit ${BATCH}`)
    yield* rows
    if (rows.length < BATCH) return
    after = rows[rows.length - 1].id
  }
}

async function* walkTexts(
  database: Database,
  { table, idColumn, column }: (typeof TEXTS)[number],
  keyId: string | null = null,
) {
  const [id, secret] = [sql.identifier([idColumn]), sql.identifier([column])]
  const prefix = keyId && sealedPrefix(keyId)
  let after = ''
  for (;;) {
    const rows = await database.any(sql.type(TextRow)`
      select ${id} as id, ${secret} as stored from ${sql.identifier([table])}
      where ${id} > ${after} and ${secret} is not null
        and (${prefix}::text is null or not starts_with(${secret}, ${prefix}))
      order by ${id} limit ${BATCH}`)
    yield* rows
    if (rows.length < BATCH) return
    after = rows[rows.length - 1].id
  }
}
