import { v7 as uuidv7 } from 'uuid'
import { type Database, rowType, sql, Timestamp } from '../shared/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'

const OperatorRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Nullable(Type.String()),
  isActive: Type.Boolean(),
  createdAt: Timestamp,
})
export type OperatorRecord = Static<typeof OperatorRow>

const Secret = rowType(Type.Object({ id: Type.String(), email: Type.String(), passwordHash: Type.String() }))

const columns = sql.fragment`id, email, name, is_active as "isActive", created_at as "createdAt"`

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
      select ${columns} from changed`)
    if (changed === null) throw invalid('email', `There is no operator ${email}.`)
    return changed
  }

  return {
    list: (): Promise<readonly OperatorRecord[]> =>
      database.any(sql.type(rowType(OperatorRow))`select ${columns} from operators order by id`),

    /** Whoever has this address, active or not. */
    find: (email: string): Promise<OperatorRecord | null> =>
      database.maybeOne(
        sql.type(rowType(OperatorRow))`select ${columns} from operators where lower(email) = lower(${email})`,
      ),

    /** Who signs in with this address, with the hash of the password; null when there is nobody, or not any more. */
    findSecret: (email: string) =>
      database.maybeOne(sql.type(Secret)`
        select id, email, password_hash as "passwordHash" from operators
        where lower(email) = lower(${email}) and is_active`),

    /** A new operator. Throws `VALIDATION_FAILED` when there is one with this address. */
    insert: async ({ email, name, passwordHash }: { email: string; name: string | null; passwordHash: string }) => {
      const inserted = await database.maybeOne(sql.type(rowType(OperatorRow))`
        insert into operators (id, email, name, password_hash)
        values (${`op_${uuidv7()}`}, ${email}, ${name}, ${passwordHash})
        on conflict (lower(email)) do nothing returning ${columns}`)
      if (inserted === null) throw invalid('email', `There is an operator ${email} already.`)
      return inserted
    },

    /** Throws `VALIDATION_FAILED` when there is no such operator. */
    setActive: (email: string, isActive: boolean) => change(email, sql.fragment`is_active = ${isActive}`),

    /** Throws `VALIDATION_FAILED` when there is no such operator. */
    setPassword: (email: string, passwordHash: string) => change(email, sql.fragment`password_hash = ${passwordHash}`),
  }
}

function invalid(path: string, message: string): DrapeError {
  return new DrapeError('VALIDATION_FAILED', message, { details: [{ path, message }] })
}
