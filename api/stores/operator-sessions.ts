import { createHash, randomBytes } from 'node:crypto'
import { type Database, rowType, sql } from '../shared/database/database.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'
import { ROLES } from './operators.ts'

/** An unused session ends after the first time, any session after the second. */
const SESSION_IDLE_MINUTES = 30
const SESSION_HOURS = 12

const SignedInRow = Type.Object({
  id: Type.String(),
  email: Type.String(),
  name: Nullable(Type.String()),
  role: Type.Enum([...ROLES]),
  /** A provider asks for second factors of its own. */
  method: Type.Enum(['password', 'provider']),
  hasSecondFactor: Type.Boolean(),
})
/** Who is signed in. */
export type SignedIn = Static<typeof SignedInRow>

const SessionRow = Type.Object({
  ...SignedInRow.properties,
  /** Signs the ids of the forms that this session is shown. */
  formKey: Type.Unsafe<Buffer>({}),
})
export type Session = Static<typeof SessionRow>

const FormKeyRow = Type.Object({ operatorId: Type.String(), formKey: Type.Unsafe<Buffer>({}) })
/** What signs the ids of the forms of a session, and whose session it is. */
export type FormKey = Static<typeof FormKeyRow>

/** How long it is known after its end whose session it was: forms that are still open belong to that operator. */
const ENDED_DAYS = 7

const isLive = sql.fragment`
  seen_at > now() - make_interval(mins => ${SESSION_IDLE_MINUTES})
  and operator_sessions.created_at > now() - make_interval(hours => ${SESSION_HOURS})`

export type OperatorSessions = ReturnType<typeof createOperatorSessions>

/** Who is signed in; only hashes of what the browsers hold are stored. */
export function createOperatorSessions(database: Database) {
  return {
    /** Signs an operator in and returns what the browser is to hold. Sessions that ended long ago are forgotten. */
    insert: async (operatorId: string, method: 'password' | 'provider' = 'password'): Promise<string> => {
      const token = randomBytes(32).toString('base64url')
      await database.query(sql.unsafe`
        with ended as (delete from operator_sessions where seen_at < now() - make_interval(days => ${ENDED_DAYS}))
        insert into operator_sessions (hash, operator_id, method)
        values (${sql.binary(hashOf(token))}, ${operatorId}, ${method})`)
      return token
    },

    /** The active operator of a live session, which thereby is used; null when it has ended. */
    use: (token: string): Promise<Session | null> =>
      database.maybeOne(sql.type(rowType(SessionRow))`
        update operator_sessions set seen_at = now() from operators
        where hash = ${sql.binary(hashOf(token))} and operators.id = operator_id and operators.is_active and ${isLive}
        returning operators.id, email, name, role, method, form_key as "formKey", exists (
          select from operator_second_factors as factors
          where factors.operator_id = operators.id and confirmed_at is not null
        ) as "hasSecondFactor"`),

    /** The session of this token that has ended by its age alone, of an active operator; none otherwise. */
    findEnded: (token: string): Promise<readonly FormKey[]> =>
      database.any(sql.type(rowType(FormKeyRow))`
        select operator_id as "operatorId", form_key as "formKey"
        from operator_sessions join operators on operators.id = operator_id
        where hash = ${sql.binary(hashOf(token))} and operators.is_active and not (${isLive})`),

    /** Of every session of the operator, live or ended. */
    listFormKeys: (operatorId: string): Promise<readonly FormKey[]> =>
      database.any(sql.type(rowType(FormKeyRow))`
        select operator_id as "operatorId", form_key as "formKey" from operator_sessions where operator_id = ${operatorId}`),

    /** Ends every other session of the operator. */
    deleteOthers: async (operatorId: string, token: string): Promise<void> => {
      await database.query(sql.unsafe`
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
