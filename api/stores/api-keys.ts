import { v7 as uuidv7 } from 'uuid'
import { generateKey, hashKey, type KeyKind } from '../credentials.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'

const KeyRow = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['secret', 'publishable']),
  createdAt: Timestamp,
  revokedAt: Nullable(Timestamp),
})
export type KeyRecord = Static<typeof KeyRow>

const Kind = rowType(Type.Object({ kind: Type.Enum(['secret', 'publishable']) }))

/** A key of an account, named by its id. */
export interface KeyName {
  readonly accountId: string
  readonly id: string
}

export type ApiKeys = ReturnType<typeof createApiKeys>

/** Keys by their ids; the keys themselves are known to those who hold them. */
export function createApiKeys(database: Database) {
  const insert = async (accountId: string, kind: KeyKind) => {
    const key = generateKey(kind)
    const id = `key_${uuidv7()}`
    await database.query(sql.unsafe`
      insert into api_keys (id, account_id, kind, hash) values (${id}, ${accountId}, ${kind}, ${sql.binary(hashKey(key))})`)
    return { id, key }
  }
  /** The kind of the key that was revoked now; null when there is none, or it was before. */
  const revoke = ({ accountId, id }: KeyName) =>
    database.maybeOneFirst(sql.type(Kind)`
      update api_keys set revoked_at = now_ms()
      where id = ${id} and account_id = ${accountId} and revoked_at is null returning kind`)

  return {
    /** Every key of an account: live ones first, then the newest. */
    list: (accountId: string): Promise<readonly KeyRecord[]> =>
      database.any(sql.type(rowType(KeyRow))`
        select id, kind, created_at as "createdAt", revoked_at as "revokedAt" from api_keys
        where account_id = ${accountId} order by revoked_at is not null, id desc`),

    insert,
    revoke,

    /** Ends a key and makes another one of its kind; null when there is no such live key. Belongs into a transaction. */
    rotate: async (name: KeyName) => {
      const kind = await revoke(name)
      return kind === null ? null : insert(name.accountId, kind)
    },
  }
}
