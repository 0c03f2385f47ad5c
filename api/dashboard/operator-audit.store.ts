import { DrapeError } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp, withinTransaction } from '../shared/database/database.ts'

const EntryRow = Type.Object({
  id: Type.Integer(),
  operatorEmail: Nullable(Type.String()),
  /** User of the command line; null when a signed-in operator acted. */
  actor: Nullable(Type.String()),
  action: Type.String(),
  object: Nullable(Type.String()),
  accountId: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  details: Json,
  address: Nullable(Type.String()),
  createdAt: Timestamp,
})
export type AuditEntry = Static<typeof EntryRow>

const DoneRow = Type.Object({
  action: Type.String(),
  object: Nullable(Type.String()),
  accountId: Nullable(Type.String()),
  createdAt: Timestamp,
})
/** Result of a submitted form. */
export type DoneForm = Static<typeof DoneRow>

const ChangeRow = Type.Object({
  operatorId: Nullable(Type.String()),
  operatorEmail: Nullable(Type.String()),
  actor: Nullable(Type.String()),
  createdAt: Timestamp,
})
export type ObjectChange = Static<typeof ChangeRow>

/** Second part of the action names that change the settings of an object. */
const CHANGES = ['update', 'activate', 'deactivate'] as const

/** Actor, network address and form of an action. */
export interface Actor {
  readonly operator: { readonly id: string; readonly email: string } | null
  /** Null on the command line. */
  readonly address: string | null
  readonly form: string | null
  /** User of the command line, which has no sign-in. */
  readonly name?: string
}

/** An audited action. */
export interface Act {
  readonly action: string
  readonly object: string | null
  readonly accountId?: string | null
  readonly reason?: string | null
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

export interface AuditSearch {
  /** ID of an object or account or at least its last 6 characters, an action, or the address of an operator. */
  readonly about: string | null
  readonly from?: Date | null
  readonly to?: Date | null
  readonly before: number | null
  readonly limit: number
}

export type OperatorAudit = ReturnType<typeof createOperatorAudit>

/** Append-only audit log of operator actions. */
export function createOperatorAudit(database: Database) {
  return {
    /**
     * Runs `work` and records its action in one transaction. A null result means that `work` changed nothing; no entry
     * is recorded. Throws `IDEMPOTENCY_KEY_IN_USE` when the form was submitted before.
     */
    record: <T extends { readonly act: Act }>(actor: Actor, work: (within: Database) => Promise<T | null>) =>
      database.transaction(async (transaction): Promise<T | null> => {
        const done = await work(withinTransaction(database, transaction))
        if (done === null) return null
        const { rowCount } = await transaction.query(insertEntry(actor, done.act))
        if (rowCount === 0) throw sentBefore()
        return done
      }),

    /**
     * Records an action without an operator, or an action that changes no row, before it runs. Throws
     * `IDEMPOTENCY_KEY_IN_USE` when the form was submitted before.
     */
    insert: async (actor: Actor, act: Act): Promise<void> => {
      const { rowCount } = await database.query(insertEntry(actor, act))
      if (rowCount === 0) throw sentBefore()
    },

    /** Result of the form with this ID; null when the form changed nothing. */
    findForm: (form: string): Promise<DoneForm | null> =>
      database.maybeOne(sql.type(rowType(DoneRow))`
        select action, object, account_id as "accountId", created_at as "createdAt" from operator_audit where form = ${form}`),

    /** Last change of an object's settings since `since`. */
    findChange: (object: string, since: Date): Promise<ObjectChange | null> =>
      database.maybeOne(sql.type(rowType(ChangeRow))`
        select operator_id as "operatorId", operator_email as "operatorEmail", actor, created_at as "createdAt"
        from operator_audit
        where object = ${object} and split_part(action, '.', 2) = any(${sql.array([...CHANGES], 'text')})
          and created_at >= ${since.toISOString()}
        order by id desc limit 1`),

    /** Newest first. */
    list: ({ about, from = null, to = null, before, limit }: AuditSearch): Promise<readonly AuditEntry[]> =>
      database.any(sql.type(rowType(EntryRow))`
        select id, operator_email as "operatorEmail", actor, action, object, account_id as "accountId", reason, details, address,
          created_at as "createdAt"
        from operator_audit
        where (${about}::text is null or object = ${about} or account_id = ${about} or action = ${about}
            or lower(operator_email) = lower(${about}) or actor = ${about}
            or length(${about}) >= 6 and right(object, length(${about})) = ${about})
          and (${from?.toISOString() ?? null}::timestamptz is null or created_at >= ${from?.toISOString() ?? null})
          and (${to?.toISOString() ?? null}::timestamptz is null or created_at < ${to?.toISOString() ?? null})
          and (${before}::bigint is null or id < ${before})
        order by id desc limit ${limit}`),
  }
}

function insertEntry({ operator, address, form, name }: Actor, act: Act) {
  return sql.unsafe`
    insert into operator_audit (operator_id, operator_email, actor, action, object, account_id, reason, details, address, form)
    values (${operator?.id ?? null}, ${operator?.email ?? null}, ${name ?? null}, ${act.action}, ${act.object}, ${act.accountId ?? null},
      ${act.reason ?? null}, ${sql.jsonb({ ...act.details })}, ${address}, ${form})
    on conflict (form) do nothing`
}

function sentBefore(): DrapeError {
  return new DrapeError('IDEMPOTENCY_KEY_IN_USE', 'This form was already submitted. The action ran once.')
}
