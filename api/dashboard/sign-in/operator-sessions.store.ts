import { createHash, randomBytes } from 'node:crypto'
import { Nullable, type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'
import { OperatorRole } from './operators.store.ts'

/** A session ends after this idle time, and in any case after the second constant. */
const SESSION_IDLE_MINUTES = 30
const SESSION_HOURS = 12

const SignedInRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Nullable(Type.String()),
  role: OperatorRole,
  /** Account that an owner is bound to; null for operators of all accounts. */
  accountId: Nullable(Type.String()),
  /** Of the account of an owner; null for operators of all accounts. */
  isAccountActive: Nullable(Type.Boolean()),
  /** A provider checks its own second factors. */
  method: Type.Enum(['password', 'provider']),
  hasSecondFactor: Type.Boolean(),
})
/** A signed-in operator. */
export type SignedIn = Static<typeof SignedInRow>

const SessionRow = Type.Object({
  ...SignedInRow.properties,
  /** Signs the IDs of the forms of this session. */
  formKey: Type.Unsafe<Buffer>({}),
})
export type Session = Static<typeof SessionRow>

/** Sessions of an operator. */
const MAX_SESSIONS = 100

const isLive = sql.fragment`
  seen_at > now() - make_interval(mins => ${SESSION_IDLE_MINUTES})
  and operator_sessions.created_at > now() - make_interval(hours => ${SESSION_HOURS})`

const columns = sql.fragment`
  operators.id, email, name, role, account_id as "accountId",
  (select accounts.is_active from accounts where accounts.id = account_id) as "isAccountActive", method, form_key as "formKey", exists (
    select from operator_second_factors as factors
    where factors.operator_id = operators.id and confirmed_at is not null
  ) as "hasSecondFactor"`

/** Whether the rows are a live session with this token, and its active operator. */
const isOf = (token: string) =>
  sql.fragment`hash = ${sql.binary(hashOf(token))} and operators.id = operator_id and operators.is_active and ${isLive}`

export type OperatorSessions = ReturnType<typeof createOperatorSessions>

/** Store of operator sessions. Only hashes of the tokens are stored. */
export function createOperatorSessions(database: Database) {
  return {
    /** Creates a session and returns its token. Deletes sessions that have ended, and the oldest ones of the operator. */
    insert: async (operatorId: string, method: 'password' | 'provider' = 'password'): Promise<string> => {
      const token = randomBytes(32).toString('base64url')
      await database.query(sql.unsafe`
        with ended as (
          delete from operator_sessions where not (${isLive}) or hash in (
            select hash from operator_sessions where operator_id = ${operatorId}
            order by created_at desc offset ${MAX_SESSIONS - 1})
        )
        insert into operator_sessions (hash, operator_id, method)
        values (${sql.binary(hashOf(token))}, ${operatorId}, ${method})`)
      return token
    },

    /** Returns the active operator of a live session and extends the session; null when the session has ended. */
    use: (token: string): Promise<Session | null> =>
      database.maybeOne(sql.type(rowType(SessionRow))`
        update operator_sessions set seen_at = now() from operators where ${isOf(token)} returning ${columns}`),

    /** As `use`, but does not extend the session. */
    find: (token: string): Promise<Session | null> =>
      database.maybeOne(sql.type(rowType(SessionRow))`
        select ${columns} from operator_sessions, operators where ${isOf(token)}`),

    /** Ends all other sessions of the operator, and sign-ins that await a code. Call in a transaction: new ones wait for its end. */
    deleteOthers: async (operatorId: string, token: string): Promise<void> => {
      await database.query(sql.unsafe`select from operators where id = ${operatorId} for no key update`)
      await database.query(sql.unsafe`
        with abandoned as (delete from operator_sign_ins where operator_id = ${operatorId})
        delete from operator_sessions where operator_id = ${operatorId} and hash <> ${sql.binary(hashOf(token))}`)
    },

    delete: async (token: string): Promise<void> => {
      await database.query(sql.unsafe`delete from operator_sessions where hash = ${sql.binary(hashOf(token))}`)
    },
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
