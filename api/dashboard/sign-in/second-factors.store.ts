import { createHash } from 'node:crypto'
import { factorPlace } from '../../secrets/live-secrets.store.ts'
import { Nullable, Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql, Timestamp } from '../../shared/database/database.ts'

const FactorRow = rowType(
  Type.Object({ secret: Type.String(), confirmedAt: Nullable(Timestamp), recoveryCodes: Type.Integer() }),
)

const CreationRow = rowType(Type.Object({ createdAt: Timestamp }))

export type SecondFactors = ReturnType<typeof createSecondFactors>

/** Store of each operator's authenticator secret and recovery codes. */
export function createSecondFactors(database: Database) {
  return {
    /** The decrypted secret, and the count of unused recovery codes. */
    find: async (operatorId: string) => {
      const factor = await database.maybeOne(sql.type(FactorRow)`
        select secret, confirmed_at as "confirmedAt", jsonb_array_length(recovery_hashes) as "recoveryCodes"
        from operator_second_factors where operator_id = ${operatorId}`)
      return factor && { ...factor, secret: await database.secrets.open(factor.secret, factorPlace(operatorId)) }
    },

    /** When the factor was first stored, in ms; null without a factor. Decrypts nothing: recovery codes need no key. */
    findCreation: async (operatorId: string): Promise<number | null> => {
      const createdAt = await database.maybeOneFirst(sql.type(CreationRow)`
        select created_at as "createdAt" from operator_second_factors where operator_id = ${operatorId}`)
      return createdAt?.getTime() ?? null
    },

    /** Stores an unconfirmed secret. Returns false if a confirmed secret exists. */
    start: async (operatorId: string, secret: string): Promise<boolean> => {
      const sealed = await database.secrets.seal(secret, factorPlace(operatorId))
      const { rowCount } = await database.query(sql.unsafe`
        insert into operator_second_factors (operator_id, secret) values (${operatorId}, ${sealed})
        on conflict (operator_id) do update set secret = excluded.secret, last_step = 0
        where operator_second_factors.confirmed_at is null`)
      return rowCount > 0
    },

    /**
     * Consumes the code of a time step. `confirm` activates a new secret. Returns false if this code or a later one was
     * used before.
     */
    spendStep: async (operatorId: string, step: number, { confirm = false } = {}): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update operator_second_factors
        set last_step = ${step}, confirmed_at = coalesce(confirmed_at, now_ms())
        where operator_id = ${operatorId} and last_step < ${step} and (confirmed_at is null) = ${confirm}`)
      return rowCount > 0
    },

    /** Consumes a recovery code. Returns false if the code is invalid or was used before. */
    spendRecoveryCode: async (operatorId: string, code: string): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        update operator_second_factors set recovery_hashes = recovery_hashes - ${hashOf(code)}::text
        where operator_id = ${operatorId} and confirmed_at is not null and recovery_hashes ? ${hashOf(code)}::text`)
      return rowCount > 0
    },

    /** Replaces all recovery codes. */
    setRecoveryCodes: async (operatorId: string, codes: readonly string[]): Promise<void> => {
      await database.query(sql.unsafe`
        update operator_second_factors set recovery_hashes = ${sql.jsonb(codes.map(hashOf))}
        where operator_id = ${operatorId}`)
    },

    /** Returns false if the operator has no second factor. */
    delete: async (operatorId: string): Promise<boolean> => {
      const { rowCount } = await database.query(sql.unsafe`
        delete from operator_second_factors where operator_id = ${operatorId}`)
      return rowCount > 0
    },
  }
}

/** Recovery codes are long and random, so a plain hash is safe against guessing. */
function hashOf(code: string): string {
  return createHash('sha256').update(code).digest('hex')
}
