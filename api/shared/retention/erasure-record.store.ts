import { Type } from '../contract/schema.ts'
import { type Database, rowType, sql } from '../database/database.ts'
import { type Customer, isObjectOf } from './customer.ts'

const ErasureId = rowType(Type.Object({ id: Type.String() }))

/** Claims for damages are possible for 3 years in most countries of the EU. */
const RECEIPT_DAYS = 1096

/** Exceeds the retries of an e-mail; an address that no process sends to is deleted. */
const ADDRESS_DAYS = 14

/** Time for the caller to repeat the call, or to ask why the receipt is missing. */
const UNFINISHED_DAYS = 90

type SqlFragment = ReturnType<typeof sql.fragment>

/**
 * The CTE `noted`: counts the rows of the CTE `deleted` under `name` for the receipt, in the same statement that deletes the rows. Erasures that
 * are repeated after a restore have no receipt.
 */
export function noteErasedRows(
  { accountId, externalUserId, before }: Customer,
  name: string,
  deleted: SqlFragment,
): SqlFragment {
  if (before !== undefined) return sql.fragment`noted as (select 1)`
  return sql.fragment`noted as (
    insert into erased_rows (erasure_id, name, count)
    select open_erasure(${accountId}, ${externalUserId}), ${name}, count from (select count(*)::int as count from ${deleted}) as counted
    where count > 0)`
}

/** The CTE `noted` for cancelled attempts of generations: the rows of the CTE `ended`. */
export function noteErasedJobs({ accountId, externalUserId, before }: Customer): SqlFragment {
  if (before !== undefined) return sql.fragment`noted as (select 1)`
  return sql.fragment`noted as (
    insert into erased_jobs (erasure_id, generation_id, attempt)
    select erasure.id, ended.id, ended.attempt
    from ended cross join (select open_erasure(${accountId}, ${externalUserId}) as id where exists (select from ended)) as erasure
    on conflict do nothing)`
}

/**
 * The erasure of a customer with stored objects; null without objects, and if no receipt is to be issued. MUST be called before
 * the transaction locks objects, as the deletion of images does: two erasures at the same time would otherwise wait for each other.
 */
export function openErasure(transaction: Pick<Database, 'maybeOneFirst'>, customer: Customer): Promise<string | null> {
  const { accountId, externalUserId, before } = customer
  if (before !== undefined) return Promise.resolve(null)
  return transaction.maybeOneFirst(sql.type(ErasureId)`
    select open_erasure(${accountId}, ${externalUserId}) as id where exists (select from objects where ${isObjectOf(customer)})`)
}

/** Notes objects in the transaction that deletes them, while their rows exist. */
export async function noteErasedObjects(
  transaction: Pick<Database, 'query'>,
  { erasureId, keys }: { erasureId: string; keys: readonly string[] },
): Promise<void> {
  await transaction.query(sql.unsafe`
    insert into erased_objects (erasure_id, key, kind, bytes)
    select ${erasureId}, key, kind, bytes from objects where key = any(${sql.array([...keys], 'text')})
    on conflict do nothing`)
}

/** Deletes records of old erasures. */
export function createOldErasures(database: Database) {
  return {
    /** Deletes old receipts of erasures, erasures that no call has finished, and old addresses for receipts. Returns the count of erasures. */
    deleteOldErasures: async (limit: number): Promise<number> => {
      const { rowCount } = await database.query(sql.unsafe`
        with addresses as (
          delete from receipt_mails using erasures
          where erasures.id = erasure_id and issued_at < now() - make_interval(days => ${ADDRESS_DAYS}))
        delete from erasures where id in (
          select id from erasures
          where issued_at < now() - make_interval(days => ${RECEIPT_DAYS})
            or issued_at is null and requested_at < now() - make_interval(days => ${UNFINISHED_DAYS})
          limit ${limit} for update skip locked)`)
      return rowCount
    },
  }
}
