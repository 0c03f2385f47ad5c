import { v7 as uuidv7 } from 'uuid'
import { refusedValue } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import type { AccountSettings } from './account-settings.ts'
import { type AccountRecord, AccountRow, accountColumns } from './accounts.store.ts'
import { generateKey, hashKey, type KeyKind, lastFourOf } from './credentials.ts'
import { type KeyRestrictions, ScopeList, UNRESTRICTED } from './restrictions.ts'

const KeyRow = Type.Object({
  id: Type.String(),
  kind: Type.Enum(['secret', 'publishable']),
  isTest: Type.Boolean(),
  name: Nullable(Type.String()),
  /** The last 4 characters of the key. */
  lastFour: Type.String(),
  /** Null: no restriction. */
  scopes: Nullable(ScopeList),
  expiresAt: Nullable(Timestamp),
  allowedCidrs: Nullable(Type.Array(Type.String())),
  createdAt: Timestamp,
  /** Up to 1 minute late. */
  lastUsedAt: Nullable(Timestamp),
  revokedAt: Nullable(Timestamp),
})
export type KeyRecord = Static<typeof KeyRow>

const columns = sql.fragment`
  id, kind, (select test_of is not null from accounts where accounts.id = account_id) as "isTest", key_name as name, last_four as "lastFour", scopes, expires_at as "expiresAt", allowed_cidrs as "allowedCidrs", created_at as "createdAt",
  last_used_at as "lastUsedAt", revoked_at as "revokedAt"`

/** Permissions of a live key. */
export interface LiveKey extends Pick<KeyRestrictions, 'scopes' | 'allowedCidrs'> {
  readonly id: string
  readonly lastFour: string
  /** Measured by the database's clock. Negative when the key has expired; null when the key never expires. */
  readonly expiresInMs: number | null
}

/** A live key and the active account that owns it. */
export interface FoundKey {
  readonly key: LiveKey
  readonly account: AccountRecord
}

const FoundRow = Type.Object({
  ...AccountRow.properties,
  keyId: Type.String(),
  lastFour: Type.String(),
  scopes: Nullable(ScopeList),
  allowedCidrs: Nullable(Type.Array(Type.String())),
  expiresInMs: Nullable(Type.Number()),
})

const Rotated = rowType(KeyRow)
const Id = rowType(Type.Object({ id: Type.String() }))
const Count = rowType(Type.Object({ count: Type.Integer() }))

/** Keys of an account that are not revoked, test keys included. As many revoked ones are kept. */
export const MAX_KEYS = 100

/** Never debited, so that programs that check their credits continue. */
const TEST_CREDITS = 1000
/** Failures are free and intended in test mode. `storageMegabytes` covers one day. */
const TEST_SETTINGS: AccountSettings = {
  failedGenerationsPerHour: 1_000_000,
  concurrentGenerations: 50,
  storageMegabytes: 1024,
}

/** The account and its test account. */
const own = (accountId: string) =>
  sql.fragment`(select id from accounts where id = ${accountId} or test_of = ${accountId})`

/** Settings of a new key. */
export interface KeySettings extends KeyRestrictions {
  readonly name?: string | null
  /** Whether the key belongs to the test account of the account. */
  readonly isTest?: boolean
}

type Within = Pick<Database, 'query' | 'oneFirst'>

/** A key of an account by ID. */
export interface KeyName {
  readonly accountId: string
  readonly id: string
}

export type ApiKeys = ReturnType<typeof createApiKeys>

/** Store of API keys. Only hashes of the keys are stored. */
export function createApiKeys(database: Database) {
  /**
   * ID of the test account of an account, which is created with the first test key. A test account is its own test
   * account.
   */
  const ensureTestAccount = (within: Within, accountId: string): Promise<string> =>
    within.oneFirst(sql.type(Id)`
      with ensured as (
        insert into accounts (id, name, email, balance, retention_days, settings, test_of)
        select ${`acc_test_${uuidv7()}`}, name, null, ${TEST_CREDITS}, 1, ${sql.jsonb({ ...TEST_SETTINGS })}, id
        from accounts where id = ${accountId} and test_of is null
        on conflict (test_of) do update set name = excluded.name
        returning id, xmax = 0 as is_new
      ), entry as (
        insert into ledger (account_id, amount, kind, note)
        select id, ${TEST_CREDITS}, 'grant', 'test credits' from ensured where is_new
      )
      select id from ensured union all select id from accounts where id = ${accountId} and test_of is not null`)
  /** Other new keys of the account and its test account wait for the end of the transaction. Throws `VALIDATION_FAILED`. */
  const requireRoom = async (within: Within, accountId: string) => {
    const live = await within.oneFirst(sql.type(Id)`
      select id from accounts where id = (select coalesce(test_of, id) from accounts where id = ${accountId})
      for no key update`)
    const count = await within.oneFirst(sql.type(Count)`
      select count(*)::integer as count from api_keys where account_id in ${own(live)} and revoked_at is null`)
    if (count >= MAX_KEYS) throw refusedValue('name', `The account has ${MAX_KEYS} keys. Revoke one first.`)
  }
  const add = async (within: Within, accountId: string, kind: KeyKind, settings: KeySettings) => {
    const { scopes, expiresAt, allowedCidrs, name = null, isTest = false } = settings
    const key = generateKey(kind, { isTest })
    const id = `key_${uuidv7()}`
    const owner = isTest ? await ensureTestAccount(within, accountId) : accountId
    await within.query(sql.unsafe`
      insert into api_keys (id, account_id, kind, hash, key_name, last_four, scopes, expires_at, allowed_cidrs)
      values (${id}, ${owner}, ${kind}, ${sql.binary(hashKey(key))}, ${name}, ${lastFourOf(key)}, ${jsonOrNull(scopes)},
        ${expiresAt?.toISOString() ?? null}, ${jsonOrNull(allowedCidrs)})`)
    return { id, key }
  }
  /** Revokes a key and returns it; null when the key does not exist or was revoked before. Deletes the oldest revoked ones. */
  const revoke = ({ accountId, id }: KeyName): Promise<KeyRecord | null> =>
    database.maybeOne(sql.type(Rotated)`
      with old as (
        delete from api_keys where id in (
          select id from api_keys where account_id in ${own(accountId)} and revoked_at is not null
          order by revoked_at desc offset ${MAX_KEYS - 1})
      )
      update api_keys set revoked_at = now_ms()
      where id = ${id} and account_id in ${own(accountId)} and revoked_at is null returning ${columns}`)

  return {
    /** The live key and its active account. Returns expired keys too, so that the owner gets a specific error. */
    find: async (key: string, kind: KeyKind): Promise<FoundKey | null> => {
      const row = await database.maybeOne(sql.type(rowType(FoundRow))`
        select ${accountColumns}, api_keys.id as "keyId", last_four as "lastFour", scopes, allowed_cidrs as "allowedCidrs",
          (extract(epoch from expires_at - now()) * 1000)::float8 as "expiresInMs"
        from api_keys join accounts on accounts.id = api_keys.account_id
        where hash = ${sql.binary(hashKey(key))} and kind = ${kind} and revoked_at is null and is_active
          and not exists (select from accounts as owner where owner.id = accounts.test_of and not owner.is_active)`)
      if (row === null) return null
      const { keyId, lastFour, scopes, allowedCidrs, expiresInMs, ...account } = row
      return { account, key: { id: keyId, lastFour, scopes, allowedCidrs, expiresInMs } }
    },

    /** Every key of an account, test keys included: live keys first, then newest first. */
    list: (accountId: string): Promise<readonly KeyRecord[]> =>
      database.any(sql.type(rowType(KeyRow))`
        select ${columns} from api_keys where account_id in ${own(accountId)} order by revoked_at is not null, id desc`),

    /** Throws `VALIDATION_FAILED` when the account has `MAX_KEYS` keys. */
    insert: (accountId: string, kind: KeyKind, settings: KeySettings = UNRESTRICTED) =>
      database.transaction(async (transaction) => {
        await requireRoom(transaction, accountId)
        return add(transaction, accountId, kind, settings)
      }),

    revoke,

    /**
     * Revokes a key and creates another one with the same kind, name and restrictions. Returns null if the key is not
     * live. Call in a transaction.
     */
    rotate: async (name: KeyName) => {
      const former = await revoke(name)
      return former === null ? null : add(database, name.accountId, former.kind, former)
    },

    /** Records when keys were last used. Skips keys that another process is updating. */
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
