import { v7 as uuidv7 } from 'uuid'
import { type Database, rowType, sql, Timestamp } from '../shared/database/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'

export const ROLES = ['viewer', 'support', 'billing', 'admin'] as const
/**
 * `viewer` reads, but no photos. `support` also sees photos, which is audited, cancels generations and redelivers webhooks. `billing` also
 * adds credits. `admin` may do everything.
 */
export type Role = (typeof ROLES)[number]

const OperatorRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Nullable(Type.String()),
  role: Type.Enum([...ROLES]),
  isActive: Type.Boolean(),
  hasSecondFactor: Type.Boolean(),
  createdAt: Timestamp,
})
export type OperatorRecord = Static<typeof OperatorRow>

export interface NewOperator {
  readonly email: string
  readonly name: string | null
  readonly passwordHash: string
  readonly role: Role
}

const Secret = rowType(Type.Object({ id: Type.String(), email: Type.String(), passwordHash: Type.String() }))

const hasSecondFactor = (id: ReturnType<typeof sql.identifier>) => sql.fragment`exists (
    select from operator_second_factors as factors where factors.operator_id = ${id} and confirmed_at is not null
  ) as "hasSecondFactor"`

const columns = (table: 'operators' | 'changed') => sql.fragment`
  id, email, name, role, is_active as "isActive", ${hasSecondFactor(sql.identifier([table, 'id']))},
  created_at as "createdAt"`

export type Operators = ReturnType<typeof createOperators>

/** People who may use the dashboard; named by their e-mail address, in whatever case. */
export function createOperators(database: Database) {
  /** Who changes is signed out everywhere. */
  const change = async (email: string, changes: ReturnType<typeof sql.fragment>): Promise<OperatorRecord> => {
    const changed = await database.maybeOne(sql.type(rowType(OperatorRow))`
      with changed as (
        update operators set ${changes} where lower(email) = lower(${email}) returning *
      ), signed_out as (
        delete from operator_sessions using changed where operator_id = changed.id
      )
      select ${columns('changed')} from changed`)
    if (changed === null) throw invalid('email', `The operator ${email} does not exist.`)
    return changed
  }

  return {
    list: (): Promise<readonly OperatorRecord[]> =>
      database.any(sql.type(rowType(OperatorRow))`select ${columns('operators')} from operators order by id`),

    /** The operator of this id, active or not. */
    findById: (id: string): Promise<OperatorRecord | null> =>
      database.maybeOne(sql.type(rowType(OperatorRow))`select ${columns('operators')} from operators where id = ${id}`),

    /** Whether an active operator may do everything. */
    hasAdmin: (): Promise<boolean> =>
      database.exists(sql.unsafe`select from operators where role = 'admin' and is_active`),

    /** The operator with this address, active or not. */
    find: (email: string): Promise<OperatorRecord | null> =>
      database.maybeOne(
        sql.type(
          rowType(OperatorRow),
        )`select ${columns('operators')} from operators where lower(email) = lower(${email})`,
      ),

    /** Who signs in with this address, with the hash of the password; null when there is none, or not any more. */
    findSecret: (email: string) =>
      database.maybeOne(sql.type(Secret)`
        select id, email, password_hash as "passwordHash" from operators
        where lower(email) = lower(${email}) and is_active`),

    /** A new operator. Throws `VALIDATION_FAILED` when there is one with this address. */
    insert: async ({ email, name, passwordHash, role }: NewOperator) => {
      const inserted = await database.maybeOne(sql.type(rowType(OperatorRow))`
        insert into operators (id, email, name, password_hash, role)
        values (${`op_${uuidv7()}`}, ${email}, ${name}, ${passwordHash}, ${role})
        on conflict (lower(email)) do nothing returning ${columns('operators')}`)
      if (inserted === null) throw invalid('email', `The operator ${email} already exists.`)
      return inserted
    },

    /** Throws `VALIDATION_FAILED` when there is no such operator. */
    setActive: (email: string, isActive: boolean) => change(email, sql.fragment`is_active = ${isActive}`),

    /** Throws `VALIDATION_FAILED` when there is no such operator. */
    setRole: (email: string, role: Role) => change(email, sql.fragment`role = ${role}`),

    /** Throws `VALIDATION_FAILED` when there is no such operator. */
    setPassword: (email: string, passwordHash: string) => change(email, sql.fragment`password_hash = ${passwordHash}`),
  }
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', message, { details: [{ path, message }] })
}
