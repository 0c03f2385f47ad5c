import { v7 as uuidv7 } from 'uuid'
import { generateKey, hashKey, type KeyKind, lastFourOf } from '../keys/credentials.ts'
import { type KeyRestrictions, ScopeList, UNRESTRICTED } from '../keys/restrictions.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'
import { type AccountRecord, AccountRow, accountColumns } from './accounts.ts'

const KeyRow = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['secret', 'publishable']),
  name: Nullable(Type.String()),
  /** The last characters of the key; null for keys of earlier releases. */
  lastFour: Nullable(Type.String()),
  /** Null restricts nothing. */
  scopes: Nullable(ScopeList),
  expiresAt: Nullable(Timestamp),
  allowedCidrs: Nullable(Type.Array(Type.String())),
  createdAt: Timestamp,
  /** Up to a minute late. */
  lastUsedAt: Nullable(Timestamp),
  revokedAt: Nullable(Timestamp),
})
export type KeyRecord = Static<typeof KeyRow>

const columns = sql.fragment`
  id, kind, key_name as name, last_four as "lastFour", scopes, expires_at as "expiresAt", allowed_cidrs as "allowedCidrs", created_at as "createdAt",
  last_used_at as "lastUsedAt", revoked_at as "revokedAt"`

/** What a live key may be used for. */
export interface LiveKey extends Pick<KeyRestrictions, 'scopes' | 'allowedCidrs'> {
  readonly id: string
  /** By the clock of the database; negative for a key that has expired, null for one that never does. */
  readonly expiresInMs: number | null
}

/** A live key, and the active account that it belongs to. */
export interface FoundKey {
  readonly key: LiveKey
  readonly account: AccountRecord
}

const FoundRow = Type.Object({
  ...AccountRow.properties,
  keyId: Type.String(),
  scopes: Nullable(ScopeList),
  allowedCidrs: Nullable(Type.Array(Type.String())),
  expiresInMs: Nullable(Type.Number()),
})

const Rotated = rowType(KeyRow)

/** What is set for a key when it is made. */
export interface KeySettings extends KeyRestrictions {
  readonly name?: string | null
}

/** A key of an account, named by its id. */
export interface KeyName {
  readonly accountId: string
  readonly id: string
}

export type ApiKeys = ReturnType<typeof createApiKeys>

/** Keys of accounts; only hashes of the keys themselves are stored. */
export function createApiKeys(database: Database) {
  const insert = async (accountId: string, kind: KeyKind, settings: KeySettings = UNRESTRICTED) => {
    const key = generateKey(kind)
    const id = `key_${uuidv7()}`
    const { scopes, expiresAt, allowedCidrs, name = null } = settings
    await database.query(sql.unsafe`
      insert into api_keys (id, account_id, kind, hash, key_name, last_four, scopes, expires_at, allowed_cidrs)
      values (${id}, ${accountId}, ${kind}, ${sql.binary(hashKey(key))}, ${name}, ${lastFourOf(key)}, ${jsonOrNull(scopes)},
        ${expiresAt?.toISOString() ?? null}, ${jsonOrNull(allowedCidrs)})`)
    return { id, key }
  }
  /** The key that was revoked now; null when there is none, or it was before. */
  const revoke = ({ accountId, id }: KeyName): Promise<KeyRecord | null> =>
    database.maybeOne(sql.type(Rotated)`
      update api_keys set revoked_at = now_ms()
      where id = ${id} and account_id = ${accountId} and revoked_at is null returning ${columns}`)

  return {
    /** The live key with its active account. One that has expired is found too, so that its owner can be informed. */
    find: async (key: string, kind: KeyKind): Promise<FoundKey | null> => {
      const row = await database.maybeOne(sql.type(rowType(FoundRow))`
        select ${accountColumns}, api_keys.id as "keyId", scopes, allowed_cidrs as "allowedCidrs",
          (extract(epoch from expires_at - now()) * 1000)::float8 as "expiresInMs"
        from api_keys join accounts on accounts.id = api_keys.account_id
        where hash = ${sql.binary(hashKey(key))} and kind = ${kind} and revoked_at is null and is_active`)
      if (row === null) return null
      const { keyId, scopes, allowedCidrs, expiresInMs, ...account } = row
      return { account, key: { id: keyId, scopes, allowedCidrs, expiresInMs } }
    },

    /** Every key of an account: live ones first, then the newest. */
    list: (accountId: string): Promise<readonly KeyRecord[]> =>
      database.any(sql.type(rowType(KeyRow))`
        select ${columns} from api_keys where account_id = ${accountId} order by revoked_at is not null, id desc`),

    insert,
    revoke,

    /** Revokes a key and makes another one with its kind, name and restrictions; null when there is no such live key. Belongs into a transaction. */
    rotate: async (name: KeyName) => {
      const former = await revoke(name)
      return former === null ? null : insert(name.accountId, former.kind, former)
    },

    /** Writes when keys were last used. A key that another process is writing is left to that process. */
    noteUses: async (uses: readonly { id: string; secondsAgo: number }[]): Promise<void> => {
      await database.query(sql.unsafe`
        with used as (
          select id, now() - make_interval(secs => seconds_ago) as at
          from unnest(
            ${sql.array(
              uses.map(({ id }) => id),
              'text',
            )},
            ${sql.array(
              uses.map(({ secondsAgo }) => secondsAgo),
              'float8',
            )}
          ) as uses (id, seconds_ago)
        ), locked as (
          select api_keys.id, used.at from api_keys join used using (id)
          where last_used_at is null or last_used_at < used.at
          for no key update of api_keys skip locked
        )
        update api_keys set last_used_at = locked.at from locked where api_keys.id = locked.id`)
    },
  }
}

function jsonOrNull(list: readonly string[] | null) {
  return list === null ? null : sql.jsonb([...list])
}
