import { v7 as uuidv7 } from 'uuid'
import { refusedValue } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'

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

const Secret = rowType(Type.Object({ id: Type.String(), email: Type.String(), passwordHash: Type.String() }))

const hasSecondFactor = (id: ReturnType<typeof sql.identifier>) => sql.fragment`exists (
    select from operator_second_factors as factors where factors.operator_id = ${id} and confirmed_at is not null
  ) as "hasSecondFactor"`

const columns = (table: 'operators' | 'changed') => sql.fragment`
  id, email, name, role, account_id as "accountId",
  (select accounts.name from accounts where accounts.id = account_id) as "accountName", is_active as "isActive", ${hasSecondFactor(sql.identifier([table, 'id']))},
  created_at as "createdAt"`

export type Operators = ReturnType<typeof createOperators>

/** Store of dashboard operators, identified by their case-insensitive e-mail address. */
export function createOperators(database: Database) {
  /** Ends all sessions of the changed operator, and sign-ins that await a code. */
  const change = async (email: string, changes: ReturnType<typeof sql.fragment>): Promise<OperatorRecord> => {
    const changed = await database.maybeOne(sql.type(rowType(OperatorRow))`
      with changed as (
        update operators set ${changes} where lower(email) = lower(${email}) returning *
      ), signed_out as (
        delete from operator_sessions using changed where operator_id = changed.id
      ), abandoned as (
        delete from operator_sign_ins using changed where operator_id = changed.id
      )
      select ${columns('changed')} from changed`)
    if (changed === null) throw refusedValue('email', `The operator ${email} does not exist.`)
    return changed
  }

  /** The operator with this address, active or not. */
  const find = (email: string): Promise<OperatorRecord | null> =>
    database.maybeOne(
      sql.type(
        rowType(OperatorRow),
      )`select ${columns('operators')} from operators where lower(email) = lower(${email})`,
    )

  return {
    list: (): Promise<readonly OperatorRecord[]> =>
      database.any(sql.type(rowType(OperatorRow))`select ${columns('operators')} from operators order by id`),

    listing: createListing(database, {
      row: OperatorRow,
      rows: sql.fragment`select ${columns('operators')} from operators`,
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
      database.maybeOne(sql.type(rowType(OperatorRow))`select ${columns('operators')} from operators where id = ${id}`),

    /** Whether an active administrator exists. */
    hasAdmin: (): Promise<boolean> =>
      database.exists(sql.unsafe`select from operators where role = 'admin' and is_active`),

    find,

    /** The active operator with this address and the password hash; null when there is none. */
    findSecret: (email: string) =>
      database.maybeOne(sql.type(Secret)`
        select id, email, password_hash as "passwordHash" from operators
        where lower(email) = lower(${email}) and is_active`),

    /** Creates an operator. Throws `VALIDATION_FAILED` when the address is already in use. */
    insert: async ({ email, name, passwordHash, refusal, ...rights }: NewOperator & Rights) => {
      const { role, accountId } = 'accountId' in rights ? { ...rights, role: 'owner' } : { ...rights, accountId: null }
      const inserted = await database.maybeOne(sql.type(rowType(OperatorRow))`
        insert into operators (id, email, name, password_hash, role, account_id)
        values (${`op_${uuidv7()}`}, ${email}, ${name}, ${passwordHash}, ${role}, ${accountId})
        on conflict (lower(email)) do nothing returning ${columns('operators')}`)
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
