import { createHash, randomBytes } from 'node:crypto'
import { Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'
import type { OperatorSecret } from './operators.store.ts'

/** Minutes within which an operator must enter the code. */
export const SIGN_IN_MINUTES = 5

const OperatorRow = rowType(Type.Object({ id: Type.String(), email: Type.String(), passwordHash: Type.String() }))

const isLive = sql.fragment`operator_sign_ins.created_at > now() - make_interval(mins => ${SIGN_IN_MINUTES})`

export type OperatorSignIns = ReturnType<typeof createOperatorSignIns>

/** Store of sign-ins with a correct password that await their code. Only hashes of the tokens are stored. */
export function createOperatorSignIns(database: Database) {
  return {
    /** Creates a sign-in and returns its token, which is not valid if the operator is inactive or has another password by now. */
    insert: async ({ id, passwordHash }: Pick<OperatorSecret, 'id' | 'passwordHash'>): Promise<string> => {
      const token = randomBytes(32).toString('base64url')
      await database.query(sql.unsafe`
        with ended as (delete from operator_sign_ins where not (${isLive}))
        insert into operator_sign_ins (hash, operator_id)
        select ${sql.binary(hashOf(token))}, id from operators
        where id = ${id} and is_active and password_hash = ${passwordHash} for share`)
      return token
    },

    /** The active operator of a pending sign-in; null when the sign-in has expired. */
    find: (token: string) =>
      database.maybeOne(sql.type(OperatorRow)`
        select operators.id, email, password_hash as "passwordHash" from operator_sign_ins join operators on operators.id = operator_id
        where hash = ${sql.binary(hashOf(token))} and is_active and ${isLive}`),

    /** Returns false if the sign-in was deleted before. */
    delete: async (token: string): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from operator_sign_ins where hash = ${sql.binary(hashOf(token))}`)
      return rowCount > 0
    },
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
