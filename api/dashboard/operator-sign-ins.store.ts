import { createHash, randomBytes } from 'node:crypto'
import { Type } from '../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../shared/database/database.ts'

/** Minutes within which an operator must enter the code. */
export const SIGN_IN_MINUTES = 5

const OperatorRow = rowType(Type.Object({ id: Type.String(), email: Type.String() }))

const isLive = sql.fragment`operator_sign_ins.created_at > now() - make_interval(mins => ${SIGN_IN_MINUTES})`

export type OperatorSignIns = ReturnType<typeof createOperatorSignIns>

/** Store of sign-ins with a correct password that await their code. Only hashes of the tokens are stored. */
export function createOperatorSignIns(database: Database) {
  return {
    /** Creates a sign-in and returns its token. */
    insert: async (operatorId: string): Promise<string> => {
      const token = randomBytes(32).toString('base64url')
      await database.query(sql.unsafe`
        with ended as (delete from operator_sign_ins where not (${isLive}))
        insert into operator_sign_ins (hash, operator_id) values (${sql.binary(hashOf(token))}, ${operatorId})`)
      return token
    },

    /** The active operator of a pending sign-in; null when the sign-in has expired. */
    find: (token: string) =>
      database.maybeOne(sql.type(OperatorRow)`
        select operators.id, email from operator_sign_ins join operators on operators.id = operator_id
        where hash = ${sql.binary(hashOf(token))} and is_active and ${isLive}`),

    delete: async (token: string): Promise<void> => {
      await database.query(sql.unsafe`delete from operator_sign_ins where hash = ${sql.binary(hashOf(token))}`)
    },
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
