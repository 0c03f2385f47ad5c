import { v7 as uuidv7 } from 'uuid'
import { generateKey, hashKey, type KeyKind, lastFourOf } from '../keys/credentials.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'

const Limit = Type.Optional(Type.Integer({ minimum: 0 }))

/** Days that an account can keep its images. */
export const RETENTION_WINDOW = { minimum: 1, maximum: 90 } as const

/** What an operator set for an account; an absent limit is the installation's. */
const AccountSettings = Type.Object({
  writesPerMinute: Limit,
  readsPerMinute: Limit,
  /** Generations accepted in a calendar month (UTC), failed ones not counted. */
  monthlyGenerations: Limit,
  /** Generations that wait or run at the same time. */
  concurrentGenerations: Limit,
  /** Failed generations of the account's keys in an hour, in addition to as many as completed. */
  failedGenerationsPerHour: Limit,
  /** Megabytes (2^20 bytes) of images that the account may store. */
  storageMegabytes: Limit,
  /**
   * Days that a result is kept when neither its call nor the upload of its photo chose a number; absent means as long as the
   * photo.
   */
  resultDays: Limit,
  /** The balance at which the webhook `credits.low` is sent; absent means never. */
  creditsLowAt: Limit,
  /** The quality below which a result is drawn again or refused, in percent; absent means that all are delivered. */
  minQualityPercent: Limit,
  /** Engine of try-ons that name none. */
  defaultEngine: Type.Optional(Type.String()),
  /** Engines that stand in for another one, in order of preference. */
  fallbackEngines: Type.Optional(Type.Array(Type.String())),
  /** Estimated seconds until the start after which a fallback engine is taken; absent: only when nothing runs the engine. */
  fallbackAfterSeconds: Limit,
})
/** Fallback engines of an account. */
export const MAX_FALLBACK_ENGINES = 5

/** What an operator may set a number to. */
export type Bounds = Readonly<Record<'minimum' | 'maximum', number>>
const COUNT: Bounds = { minimum: 1, maximum: 1_000_000_000 }
/** A number that may also be 0. */
const AMOUNT: Bounds = { ...COUNT, minimum: 0 }
export const SETTING_BOUNDS = {
  writesPerMinute: COUNT,
  readsPerMinute: COUNT,
  monthlyGenerations: COUNT,
  concurrentGenerations: COUNT,
  failedGenerationsPerHour: COUNT,
  storageMegabytes: AMOUNT,
  resultDays: RETENTION_WINDOW,
  creditsLowAt: AMOUNT,
  minQualityPercent: { minimum: 0, maximum: 100 },
  fallbackAfterSeconds: { minimum: 0, maximum: 3600 },
} as const satisfies { readonly [K in keyof AccountSettings]?: Bounds }
export type AccountSettings = Static<typeof AccountSettings>

/** What an operator changes; a setting that is null is taken away, what is absent stays. */
export interface AccountChanges {
  readonly name?: string
  readonly email?: string | null
  readonly isActive?: boolean
  readonly retentionDays?: number
  readonly settings?: { readonly [K in keyof AccountSettings]?: AccountSettings[K] | null }
}

export const AccountRow = Type.Object({
  id: Type.String(),
  name: Type.String(),
  email: Type.Union([Type.String(), Type.Null()]),
  balance: Type.Integer(),
  isActive: Type.Boolean(),
  retentionDays: Type.Integer(),
  settings: AccountSettings,
  createdAt: Timestamp,
  /** The account whose test keys lead to this one; null for accounts that are no one's test account. */
  testOf: Nullable(Type.String()),
})
export type AccountRecord = Static<typeof AccountRow>

export const accountColumns = sql.fragment`
  accounts.id, name, email, balance, is_active as "isActive", retention_days as "retentionDays", settings,
  accounts.created_at as "createdAt", test_of as "testOf"`

const EditedRow = Type.Object({
  ...AccountRow.properties,
  edition: Type.String(),
  logoKey: Type.Union([Type.String(), Type.Null()]),
})
export type EditedAccount = Static<typeof EditedRow>

const accountEdition = sql.fragment`md5(row(name, email, is_active, retention_days, settings)::text)`

const RevokedKey = rowType(Type.Object({ id: Type.String(), accountId: Type.String() }))

const LedgerGap = rowType(Type.Object({ id: Type.String(), balance: Type.Integer(), ledger: Type.Integer() }))

/** At once; so that no sum of top-ups leaves the numbers that are exact. */
const MAX_CREDITS = 1_000_000_000

export type Accounts = ReturnType<typeof createAccounts>

/** Accounts, their keys and their credits. */
export function createAccounts(database: Database) {
  return {
    find: (id: string): Promise<AccountRecord | null> =>
      database.maybeOne(sql.type(rowType(AccountRow))`select ${accountColumns} from accounts where id = ${id}`),

    /** Every account but test accounts, in the order in which they came. */
    list: (): Promise<readonly AccountRecord[]> =>
      database.any(
        sql.type(rowType(AccountRow))`select ${accountColumns} from accounts where test_of is null order by id`,
      ),

    /** Changes what is given. Throws `ACCOUNT_NOT_FOUND`, or `VALIDATION_FAILED` when nothing is given. */
    update: async (id: string, changes: AccountChanges) => {
      const changed = await database.maybeOne(sql.type(rowType(AccountRow))`
        update accounts set ${assignments(changes)} where id = ${id} returning ${accountColumns}`)
      if (changed === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${id} does not exist.`)
      return changed
    },

    /** Changes what is given, unless the account has changed since this edition of it: then null. */
    updateEdition: (id: string, changes: AccountChanges, edition: string): Promise<AccountRecord | null> =>
      database.maybeOne(sql.type(rowType(AccountRow))`
        update accounts set ${assignments(changes)} where id = ${id} and ${accountEdition} = ${edition}
        returning ${accountColumns}`),

    /** An account with its edition, another one for whatever `update` can change. */
    findEdition: (id: string) =>
      database.maybeOne(sql.type(rowType(EditedRow))`
        select ${accountColumns}, ${accountEdition} as edition, logo_key as "logoKey" from accounts where id = ${id}`),

    /** Accounts whose id, name or e-mail address holds the text, newest first, those before the given id. */
    search: ({ text, before, limit }: { text: string; before: string | null; limit: number }) =>
      database.any(sql.type(rowType(AccountRow))`
        select ${accountColumns} from accounts
        where test_of is null and (id = ${text} or strpos(lower(concat_ws(' ', name, email)), lower(${text})) > 0)
          and (${before}::text is null or id < ${before})
        order by id desc limit ${limit}`),

    /** A new account with its first keys; the keys are in the answer and nowhere else. */
    insert: ({
      name,
      email,
      credits,
      retentionDays = 7,
      settings = {},
    }: {
      name: string
      email: string | null
      credits: number
      retentionDays?: number
      settings?: AccountSettings
    }) =>
      database.transaction(async (transaction) => {
        const id = `acc_${uuidv7()}`
        await transaction.query(sql.unsafe`
          insert into accounts (id, name, email, balance, retention_days, settings)
          values (${id}, ${name}, ${email}, ${credits}, ${retentionDays}, ${sql.jsonb({ ...settings })})`)
        if (credits > 0) {
          await transaction.query(sql.unsafe`
            insert into ledger (account_id, amount, kind, note) values (${id}, ${credits}, 'grant', 'first credits')`)
        }
        const apiKey = generateKey('secret')
        const publishableKey = generateKey('publishable')
        await transaction.query(insertKey(id, 'secret', { key: apiKey, name: 'First secret key' }))
        await transaction.query(insertKey(id, 'publishable', { key: publishableKey, name: 'First publishable key' }))
        return { id, apiKey, publishableKey }
      }),

    /** One more key for an account. Throws `ACCOUNT_NOT_FOUND`. */
    insertKey: async (accountId: string, kind: KeyKind): Promise<string> => {
      const key = generateKey(kind)
      const { rowCount } = await database.query(insertKey(accountId, kind, { key, name: null }))
      if (rowCount === 0) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
      return key
    },

    /** The key that was revoked; null when it is unknown or was revoked before. */
    revokeKey: (key: string) =>
      database.maybeOne(sql.type(RevokedKey)`
        update api_keys set revoked_at = now_ms() where hash = ${sql.binary(hashKey(key))} and revoked_at is null
        returning id, account_id as "accountId"`),

    /** Adds 1 to 1,000,000,000 credits with their ledger entry and returns the new balance. Throws `ACCOUNT_NOT_FOUND`. */
    addCredits: async ({ accountId, credits, note }: { accountId: string; credits: number; note: string | null }) => {
      if (!Number.isInteger(credits) || credits < 1 || credits > MAX_CREDITS) throw creditsRefused()
      const balance = await database.maybeOneFirst(sql.type(rowType(Type.Object({ balance: Type.Integer() })))`
        with account as (
          update accounts set balance = balance + ${credits}, credits_low_since = case
            when balance + ${credits} <= (settings->>'creditsLowAt')::bigint then credits_low_since end
          where id = ${accountId} returning id, balance
        ), entry as (
          insert into ledger (account_id, amount, kind, note) select id, ${credits}, 'grant', ${note} from account
        )
        select balance from account`)
      if (balance === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
      return balance
    },

    /** Accounts whose balance is not the sum of their ledger; there must be none. */
    findLedgerGaps: () =>
      database.any(sql.type(LedgerGap)`
        select accounts.id, balance, coalesce(sum(amount), 0)::bigint as ledger
        from accounts left join ledger on ledger.account_id = accounts.id
        group by accounts.id having balance <> coalesce(sum(amount), 0)`),
  }
}

function assignments({ name, email, isActive, retentionDays, settings }: AccountChanges) {
  const changes = [
    name !== undefined && sql.fragment`name = ${name}`,
    email !== undefined && sql.fragment`email = ${email}`,
    isActive !== undefined && sql.fragment`is_active = ${isActive}`,
    retentionDays !== undefined && sql.fragment`retention_days = ${retentionDays}`,
    settings !== undefined && sql.fragment`settings = jsonb_strip_nulls(settings || ${sql.jsonb({ ...settings })})`,
    // No event was sent yet for a new threshold.
    settings?.creditsLowAt !== undefined && sql.fragment`credits_low_since = null`,
  ].filter((change) => change !== false)
  if (changes.length === 0)
    throw new DrapeError('VALIDATION_FAILED', 'The request changes nothing. Name at least one setting.')
  return sql.join(changes, sql.fragment`, `)
}

function creditsRefused(): DrapeError {
  const message = `must be a whole number from 1 to ${MAX_CREDITS}`
  return new DrapeError('VALIDATION_FAILED', `The number of credits ${message}.`, {
    details: [{ path: 'credits', message }],
  })
}

function insertKey(accountId: string, kind: KeyKind, { key, name }: { key: string; name: string | null }) {
  return sql.unsafe`
    insert into api_keys (id, account_id, kind, hash, key_name, last_four)
    select ${`key_${uuidv7()}`}, id, ${kind}, ${sql.binary(hashKey(key))}, ${name}, ${lastFourOf(key)} from accounts where id = ${accountId}`
}
