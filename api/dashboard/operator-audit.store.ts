import { DrapeError } from '../shared/contract/errors.ts'
import { Nullable, type Static, Type } from '../shared/contract/schema.ts'
import { type Database, Json, rowType, sql, Timestamp, withinTransaction } from '../shared/database/database.ts'
import { createListing } from '../shared/database/listing.ts'

const EntryRow = Type.Object({
  id: Type.Integer(),
  /** Address of the operator, or the user of the command line; null when nobody was signed in. */
  who: Nullable(Type.String()),
  operatorEmail: Nullable(Type.String()),
  /** User of the command line; null when a signed-in operator acted. */
  actor: Nullable(Type.String()),
  action: Type.String(),
  object: Nullable(Type.String()),
  accountId: Nullable(Type.String()),
  accountName: Nullable(Type.String()),
  reason: Nullable(Type.String()),
  details: Json,
  address: Nullable(Type.String()),
  createdAt: Timestamp,
})
export type AuditEntry = Static<typeof EntryRow>

const DoneRow = Type.Object({
  action: Type.String(),
  object: Nullable(Type.String()),
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

export type OperatorAudit = ReturnType<typeof createOperatorAudit>

/** Append-only audit log of operator actions. */
export function createOperatorAudit(database: Database) {
  return {
    /**
     * Runs `work` and records its action, or one action for each of several objects, in one transaction. A null result means that `work` changed nothing; no entry
     * is recorded. Throws `IDEMPOTENCY_KEY_IN_USE` when the form was submitted before.
     */
    record: <T extends { readonly act: Act | readonly Act[] }>(
      actor: Actor,
      work: (within: Database) => Promise<T | null>,
    ) =>
      database.transaction(async (transaction): Promise<T | null> => {
        const done = await work(withinTransaction(database, transaction))
        if (done === null) return null
        const [first, ...others] = [done.act].flat()
        const { rowCount } = await transaction.query(insertEntry(actor, first))
        if (rowCount === 0) throw sentBefore()
        for (const act of others) await transaction.query(insertEntry({ ...actor, form: null }, act))
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
        select action, object, created_at as "createdAt" from operator_audit where form = ${form}`),

    /** Last change of an object's settings since `since`. */
    findChange: (object: string, since: Date): Promise<ObjectChange | null> =>
      database.maybeOne(sql.type(rowType(ChangeRow))`
        select operator_id as "operatorId", operator_email as "operatorEmail", actor, created_at as "createdAt"
        from operator_audit
        where object = ${object} and split_part(action, '.', 2) = any(${sql.array([...CHANGES], 'text')})
          and created_at >= ${since.toISOString()}
        order by id desc limit 1`),

    listing: createListing(database, {
      row: EntryRow,
      rows: sql.fragment`
        select operator_audit.id, coalesce(operator_email, actor) as who, operator_email as "operatorEmail", actor, action, object,
          account_id as "accountId", accounts.name as "accountName", reason, details, address, operator_audit.created_at as "createdAt"
        from operator_audit left join accounts on accounts.id = account_id`,
      texts: ['who', 'action', 'object', 'accountId', 'accountName', 'reason'],
    }),
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
