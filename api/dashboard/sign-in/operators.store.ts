import { v7 as uuidv7 } from 'uuid'
import { refusedValue } from '../../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'
import { createListing } from '../../shared/database/listing.ts'

export const ROLES = ['viewer', 'support', 'billing', 'admin'] as const
/**
 * `viewer` reads everything except photos. `support` also views photos (audited), cancels generations and redelivers
 * webhooks. `billing` also adds credits. `admin` may do everything.
 */
export type Role = (typeof ROLES)[number]

/** Role of an operator; `owner` for one who signs in for a single account, and is shown nothing of others. */
export const OperatorRole = Type.Enum([...ROLES, 'owner'])
export type OperatorRole = Static<typeof OperatorRole>

const OperatorRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Nullable(Type.String()),
  role: OperatorRole,
  /** Account of an owner. */
  accountId: Nullable(Type.String()),
  accountName: Nullable(Type.String()),
  isActive: Type.Boolean(),
  hasSecondFactor: Type.Boolean(),
  createdAt: Timestamp,
})
export type OperatorRecord = Static<typeof OperatorRow>

export interface NewOperator {
  readonly email: string
  readonly name: string | null
  readonly passwordHash: string
  /** Message when the address is in use, for those who must not learn that; absent: one that says it. */
  readonly refusal?: string
}

/** The role of an operator of all accounts, or the account of an owner. */
export type Rights = { readonly role: Role } | { readonly accountId: string }

const SecretRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  passwordHash: Type.String(),
  hasSecondFactor: Type.Boolean(),
})
/** What an operator signs in with. */
export type OperatorSecret = Static<typeof SecretRow>

const hasSecondFactor = sql.fragment`exists (
    select from operator_second_factors as factors where factors.operator_id = operators.id and confirmed_at is not null)`

const columns = sql.fragment`
  id, email, name, role, account_id as "accountId",
  (select accounts.name from accounts where accounts.id = account_id) as "accountName", is_active as "isActive", ${hasSecondFactor} as "hasSecondFactor",
  created_at as "createdAt"`

// A statement of its own also sees sessions that were opened while an update of the operator waited for their sign-in.
async function endSessions(database: Pick<Database, 'query'>, operatorId: string): Promise<void> {
  await database.query(sql.unsafe`
    with abandoned as (delete from operator_sign_ins where operator_id = ${operatorId})
    delete from operator_sessions where operator_id = ${operatorId}`)
}

export type Operators = ReturnType<typeof createOperators>

/** Store of dashboard operators, identified by their case-insensitive e-mail address. */
export function createOperators(database: Database) {
  /** Ends all sessions of the changed operator, and sign-ins that await a code. */
  const change = (email: string, changes: ReturnType<typeof sql.fragment>): Promise<OperatorRecord> =>
    database.transaction(async (transaction) => {
      const changed = await transaction.maybeOne(sql.type(rowType(OperatorRow))`
        update operators set ${changes} where lower(email) = lower(${email}) returning ${columns}`)
      if (changed === null) throw refusedValue('email', `The operator ${email} does not exist.`)
      await endSessions(transaction, changed.id)
      return changed
    })

  /** The operator with this address, active or not. */
  const find = (email: string): Promise<OperatorRecord | null> =>
    database.maybeOne(
      sql.type(rowType(OperatorRow))`select ${columns} from operators where lower(email) = lower(${email})`,
    )

  return {
    list: (): Promise<readonly OperatorRecord[]> =>
      database.any(sql.type(rowType(OperatorRow))`select ${columns} from operators order by id`),

    listing: createListing(database, {
      row: OperatorRow,
      rows: sql.fragment`select ${columns} from operators`,
      texts: ['id', 'email', 'name', 'role', 'accountName'],
      order: sql.fragment`id`,
    }),

    /** Number of owners of the account, active or not. Locks the account until the end of the transaction. */
    countOwners: async (accountId: string): Promise<number> => {
      await database.query(sql.unsafe`select from accounts where id = ${accountId} for no key update`)
      return database.oneFirst(sql.type(rowType(Type.Object({ count: Type.Integer() })))`
        select count(*)::integer as count from operators where account_id = ${accountId}`)
    },

    /** The operator with this ID, active or not. */
    findById: (id: string): Promise<OperatorRecord | null> =>
      database.maybeOne(sql.type(rowType(OperatorRow))`select ${columns} from operators where id = ${id}`),

    /** Whether an active administrator exists. */
    hasAdmin: (): Promise<boolean> =>
      database.exists(sql.unsafe`select from operators where role = 'admin' and is_active`),

    find,

    /** The active operator with this address and the password hash; null when there is none. */
    findSecret: (email: string): Promise<OperatorSecret | null> =>
      database.maybeOne(sql.type(rowType(SecretRow))`
        select id, email, password_hash as "passwordHash", ${hasSecondFactor} as "hasSecondFactor" from operators
        where lower(email) = lower(${email}) and is_active`),

    /**
     * Whether the operator is still active, with this password hash, and with or without a second factor. In a
     * transaction, whoever changes that waits for its end, and then ends its sessions.
     */
    isUnchanged: async ({ id, passwordHash, hasSecondFactor: had }: OperatorSecret): Promise<boolean> => {
      await database.query(sql.unsafe`select from operators where id = ${id} for share`)
      return database.exists(sql.unsafe`
        select from operators
        where id = ${id} and is_active and password_hash = ${passwordHash} and ${hasSecondFactor} = ${had}`)
    },

    /** Creates an operator. Throws `VALIDATION_FAILED` when the address is already in use. */
    insert: async ({ email, name, passwordHash, refusal, ...rights }: NewOperator & Rights) => {
      const { role, accountId } = 'accountId' in rights ? { ...rights, role: 'owner' } : { ...rights, accountId: null }
      const inserted = await database.maybeOne(sql.type(rowType(OperatorRow))`
        insert into operators (id, email, name, password_hash, role, account_id)
        values (${`op_${uuidv7()}`}, ${email}, ${name}, ${passwordHash}, ${role}, ${accountId})
        on conflict (lower(email)) do nothing returning ${columns}`)
      if (inserted === null) throw refusedValue('email', refusal ?? `The operator ${email} already exists.`)
      return inserted
    },

    /**
     * Deletes an owner of an account with its sessions and its second factor, which frees the address. Returns false for other
     * operators, who are never deleted.
     */
    deleteOwner: async (id: string): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from operators where id = ${id} and account_id is not null`)
      return rowCount > 0
    },

    /** Removes the authenticator app and the recovery codes, which a stranger may have, and ends all sessions. */
    resetSecondFactor: (id: string): Promise<void> =>
      database.transaction(async (transaction) => {
        await transaction.query(sql.unsafe`select from operators where id = ${id} for update`)
        await transaction.query(sql.unsafe`delete from operator_second_factors where operator_id = ${id}`)
        await endSessions(transaction, id)
      }),

    /** Throws `VALIDATION_FAILED` when the operator does not exist. */
    setActive: (email: string, isActive: boolean) => change(email, sql.fragment`is_active = ${isActive}`),

    /** Throws `VALIDATION_FAILED` when the operator does not exist or is an owner. */
    setRole: async (email: string, role: Role) => {
      if ((await find(email))?.accountId)
        throw refusedValue('role', `${email} is an owner of an account and stays one.`)
      return change(email, sql.fragment`role = ${role}`)
    },

    /** Throws `VALIDATION_FAILED` when the operator does not exist. */
    setPassword: (email: string, passwordHash: string) => change(email, sql.fragment`password_hash = ${passwordHash}`),

    /** Replaces the hash `from`. Returns false if the operator has another one now, and ends no session. */
    replacePassword: async ({ id, from, to }: { id: string; from: string; to: string }): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update operators set password_hash = ${to} where id = ${id} and password_hash = ${from}`)
      return rowCount > 0
    },
  }
}
