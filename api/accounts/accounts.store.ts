import { v7 as uuidv7 } from 'uuid'
import { DrapeError } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'
import { AccountSettings } from './account-settings.ts'
import { generateKey, hashKey, type KeyKind, lastFourOf } from './credentials.ts'

/** Changes to an account. Null removes a setting; an absent setting stays. */
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
  /** Account that this test account belongs to; null for other accounts. */
  testOf: Nullable(Type.String()),
})
export type AccountRecord = Static<typeof AccountRow>

export const accountColumns = sql.fragment`
  accounts.id, name, email, balance, is_active as "isActive", retention_days as "retentionDays", settings,
  accounts.created_at as "createdAt", test_of as "testOf"`

const { settings: _, testOf: __, ...listedColumns } = AccountRow.properties
const ListedRow = Type.Object(listedColumns)
export type ListedAccount = Static<typeof ListedRow>

const NameRow = rowType(Type.Object({ id: Type.String(), name: Type.String() }))

const EditedRow = Type.Object({
  ...AccountRow.properties,
  edition: Type.String(),
  logoKey: Type.Union([Type.String(), Type.Null()]),
})
export type EditedAccount = Static<typeof EditedRow>

const accountEdition = sql.fragment`md5(row(name, email, is_active, retention_days, settings)::text)`

const RevokedKey = rowType(Type.Object({ id: Type.String(), accountId: Type.String() }))

const LedgerGap = rowType(Type.Object({ id: Type.String(), balance: Type.Integer(), ledger: Type.Integer() }))

/** Maximum of one change, so that the sum of all changes stays an exact number. */
export const MAX_CREDITS = 1_000_000_000

interface NewAccount {
  readonly name: string
  readonly email: string | null
  readonly credits: number
  readonly retentionDays?: number
  readonly settings?: AccountSettings
}

export type Accounts = ReturnType<typeof createAccounts>

/** Store of accounts, their keys and their credits. */
export function createAccounts(database: Database) {
  const find = (id: string): Promise<AccountRecord | null> =>
    database.maybeOne(sql.type(rowType(AccountRow))`select ${accountColumns} from accounts where id = ${id}`)
  return {
    find,

    /** Throws `ACCOUNT_NOT_FOUND`. */
    get: async (id: string): Promise<AccountRecord> => {
      const account = await find(id)
      if (account === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${id} does not exist.`)
      return account
    },

    /** Accounts except test accounts, newest first, before the given ID; all without a limit. */
    list: ({
      before = null,
      limit = null,
    }: {
      before?: string | null
      limit?: number | null
    } = {}): Promise<readonly AccountRecord[]> =>
      database.any(sql.type(rowType(AccountRow))`
        select ${accountColumns} from accounts
        where test_of is null and (${before}::text is null or id < ${before})
        order by id desc limit ${limit}`),

    /** Updates the given settings. Throws `ACCOUNT_NOT_FOUND`, or `VALIDATION_FAILED` when no setting is given. */
    update: async (id: string, changes: AccountChanges) => {
      const changed = await database.maybeOne(sql.type(rowType(AccountRow))`
        update accounts set ${assignments(changes)} where id = ${id} returning ${accountColumns}`)
      if (changed === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${id} does not exist.`)
      return changed
    },

    /** Updates the given settings if the account still has this edition. Returns null if the account has changed. */
    updateEdition: (id: string, changes: AccountChanges, edition: string): Promise<AccountRecord | null> =>
      database.maybeOne(sql.type(rowType(AccountRow))`
        update accounts set ${assignments(changes)} where id = ${id} and ${accountEdition} = ${edition}
        returning ${accountColumns}`),

    /** The account and its edition, which changes with every `update`. */
    findEdition: (id: string) =>
      database.maybeOne(sql.type(rowType(EditedRow))`
        select ${accountColumns}, ${accountEdition} as edition, logo_key as "logoKey" from accounts where id = ${id}`),

    /** Accounts except test accounts, by their ID, name and e-mail address. */
    listing: createListing(database, {
      row: ListedRow,
      rows: sql.fragment`
        select id, name, email, balance, is_active as "isActive", retention_days as "retentionDays", created_at as "createdAt"
        from accounts where test_of is null`,
      texts: ['id', 'name', 'email'],
    }),

    /** Names of these accounts, by ID. */
    findNames: async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const rows = await database.any(sql.type(NameRow)`
        select id, name from accounts where id = any(${sql.array([...new Set(ids)], 'text')})`)
      return new Map(rows.map(({ id, name }) => [id, name]))
    },

    /** Creates an account and its first keys. Only this response contains the keys. */
    insert: (account: NewAccount) => database.transaction((transaction) => insertAccount(transaction, account)),

    /** Adds a key to an account. Throws `ACCOUNT_NOT_FOUND`. */
    insertKey: async (accountId: string, kind: KeyKind): Promise<string> => {
      const key = generateKey(kind)
      const { rowCount } = await database.query(insertKey(accountId, kind, { key, name: null }))
      if (rowCount === 0) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
      return key
    },

    /** Revokes a key and returns it; null when the key does not exist or was revoked before. */
    revokeKey: (key: string) =>
      database.maybeOne(sql.type(RevokedKey)`
        update api_keys set revoked_at = now_ms() where hash = ${sql.binary(hashKey(key))} and revoked_at is null
        returning id, account_id as "accountId"`),

    /**
     * Adds up to 1,000,000,000 credits, or removes that many if negative, with their ledger entry. Returns the new balance. Throws
     * `ACCOUNT_NOT_FOUND`, and `VALIDATION_FAILED` for 0 and for more than the account has.
     */
    addCredits: async ({ accountId, credits, note }: { accountId: string; credits: number; note: string | null }) => {
      if (!Number.isInteger(credits) || credits === 0 || Math.abs(credits) > MAX_CREDITS)
        throw creditsRefused(`must be a whole number from 1 to ${MAX_CREDITS}, or from -1 to -${MAX_CREDITS}`)
      const balance = await database.maybeOneFirst(sql.type(rowType(Type.Object({ balance: Type.Integer() })))`
        with account as (
          update accounts set balance = balance + ${credits}, credits_low_since = case
            when balance + ${credits} <= (settings->>'creditsLowAt')::bigint then credits_low_since end
          where id = ${accountId} and balance + ${credits} >= 0 returning id, balance
        ), entry as (
          insert into ledger (account_id, amount, kind, note) select id, ${credits}, 'grant', ${note} from account
        )
        select balance from account`)
      if (balance !== null) return balance
      const account = await find(accountId)
      if (account === null) throw new DrapeError('ACCOUNT_NOT_FOUND', `The account ${accountId} does not exist.`)
      throw creditsRefused(`would be more than the account has: ${account.balance}`)
    },

    /** Accounts whose balance differs from the sum of their ledger. Expected: none. */
    findLedgerGaps: () =>
      database.any(sql.type(LedgerGap)`
        select accounts.id, balance, coalesce(sum(amount), 0)::bigint as ledger
        from accounts left join ledger on ledger.account_id = accounts.id
        group by accounts.id having balance <> coalesce(sum(amount), 0)`),
  }
}

async function insertAccount(transaction: Pick<Database, 'query'>, account: NewAccount) {
  const { name, email, credits, retentionDays = 7, settings = {} } = account
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
}

function assignments({ name, email, isActive, retentionDays, settings }: AccountChanges) {
  const changes = [
    name !== undefined && sql.fragment`name = ${name}`,
    email !== undefined && sql.fragment`email = ${email}`,
    isActive !== undefined && sql.fragment`is_active = ${isActive}`,
    retentionDays !== undefined && sql.fragment`retention_days = ${retentionDays}`,
    settings !== undefined && sql.fragment`settings = jsonb_strip_nulls(settings || ${sql.jsonb({ ...settings })})`,
    // A new threshold has sent no event yet.
    settings?.creditsLowAt !== undefined &&
      sql.fragment`credits_low_since = case
        when (settings->>'creditsLowAt')::int is not distinct from ${settings.creditsLowAt} then credits_low_since end`,
  ].filter((change) => change !== false)
  if (changes.length === 0)
    throw new DrapeError('VALIDATION_FAILED', 'The request changes nothing. Name at least one setting.')
  return sql.join(changes, sql.fragment`, `)
}

function creditsRefused(message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', `The number of credits ${message}.`, {
    details: [{ path: 'credits', message }],
  })
}

function insertKey(accountId: string, kind: KeyKind, { key, name }: { key: string; name: string | null }) {
  return sql.unsafe`
    insert into api_keys (id, account_id, kind, hash, key_name, last_four)
    select ${`key_${uuidv7()}`}, id, ${kind}, ${sql.binary(hashKey(key))}, ${name}, ${lastFourOf(key)} from accounts where id = ${accountId}`
}
