import { type Database, Json, rowType, sql, Timestamp, withinTransaction } from '../shared/database/database.ts'
import { DrapeError } from '../shared/errors.ts'
import { Nullable, type Static, Type } from '../shared/schema.ts'

const EntryRow = Type.Object({
  id: Type.Integer(),
  operatorEmail: Nullable(Type.String()),
  /** Who acted on the command line; null where an operator was signed in. */
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
/** What a form did. */
export type DoneForm = Static<typeof DoneRow>

const ChangeRow = Type.Object({
  operatorId: Nullable(Type.String()),
  operatorEmail: Nullable(Type.String()),
  actor: Nullable(Type.String()),
  createdAt: Timestamp,
})
export type ObjectChange = Static<typeof ChangeRow>

/** Second words of actions that change what a form of settings has. */
const CHANGES = ['update', 'activate', 'deactivate'] as const

/** Who acts, from where, and by which form. */
export interface Actor {
  readonly operator: { readonly id: string; readonly email: string } | null
  /** Null on the command line. */
  readonly address: string | null
  readonly form: string | null
  /** The user of the command line, where there is no sign-in. */
  readonly name?: string
}

/** What was done. */
export interface Act {
  readonly action: string
  readonly object: string | null
  readonly accountId?: string | null
  readonly reason?: string | null
  readonly details?: Readonly<Record<string, string | number | boolean | null>>
}

export interface AuditSearch {
  /** An object, an account, an action or an operator's address. */
  readonly about: string | null
  readonly before: number | null
  readonly limit: number
}

export type OperatorAudit = ReturnType<typeof createOperatorAudit>

/** The log of what operators did, which is only ever added to. */
export function createOperatorAudit(database: Database) {
  return {
    /**
     * Does something and writes it down, or neither. What returns null has done nothing and is not written down. Throws
     * `IDEMPOTENCY_KEY_IN_USE` when the form was sent before.
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
     * Writes down what happened without an operator, or what changes nothing else, before it is done. Throws
     * `IDEMPOTENCY_KEY_IN_USE` when the form was sent before.
     */
    insert: async (actor: Actor, act: Act): Promise<void> => {
      const { rowCount } = await database.query(insertEntry(actor, act))
      if (rowCount === 0) throw sentBefore()
    },

    /** What the form of this id did; null for a form that did nothing. */
    findForm: (form: string): Promise<DoneForm | null> =>
      database.maybeOne(sql.type(rowType(DoneRow))`
        select action, object, account_id as "accountId", created_at as "createdAt" from operator_audit where form = ${form}`),

    /** The last change of the settings of an object since this time. */
    findChange: (object: string, since: Date): Promise<ObjectChange | null> =>
      database.maybeOne(sql.type(rowType(ChangeRow))`
        select operator_id as "operatorId", operator_email as "operatorEmail", actor, created_at as "createdAt"
        from operator_audit
        where object = ${object} and split_part(action, '.', 2) = any(${sql.array([...CHANGES], 'text')})
          and created_at >= ${since.toISOString()}
        order by id desc limit 1`),

    /** Newest first. */
    list: ({ about, before, limit }: AuditSearch): Promise<readonly AuditEntry[]> =>
      database.any(sql.type(rowType(EntryRow))`
        select id, operator_email as "operatorEmail", actor, action, object, account_id as "accountId", reason, details, address,
          created_at as "createdAt"
        from operator_audit
        where (${about}::text is null or object = ${about} or account_id = ${about} or action = ${about}
            or lower(operator_email) = lower(${about}) or actor = ${about})
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
