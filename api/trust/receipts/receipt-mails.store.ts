import { type Static, Type } from '../../shared/contract/schema.ts'
import { type Database, Json, rowType, sql } from '../../shared/database/database.ts'

const DueRow = Type.Object({
  erasureId: Type.String(),
  address: Type.String(),
  /** Failed attempts. */
  attempts: Type.Integer(),
  /** Since the receipt is issued, for which an e-mail can wait for months. */
  ageSeconds: Type.Number(),
  receipt: Json,
  /** SHA-256 of the erased objects, one after another, as hex. */
  leaves: Type.String(),
})
/** An e-mail whose receipt is issued. */
export type DueReceiptMail = Static<typeof DueRow>

export type ReceiptMails = ReturnType<typeof createReceiptMails>

type Mail = Pick<DueReceiptMail, 'erasureId' | 'address'>

/** Receipts that are to be sent by e-mail. An address is stored until its e-mail is sent or abandoned. */
export function createReceiptMails(database: Database) {
  return {
    /** Stores the address until the receipt is sent; a repeated call changes nothing. */
    insert: async ({ erasureId, address }: Mail): Promise<void> => {
      await database.query(sql.unsafe`
        insert into receipt_mails (erasure_id, address) values (${erasureId}, ${address}) on conflict do nothing`)
    },

    /** Claims e-mails whose receipt is issued, for the time of the lease. */
    claim: ({ limit, leaseSeconds }: { limit: number; leaseSeconds: number }): Promise<readonly DueReceiptMail[]> =>
      database.any(sql.type(rowType(DueRow))`
        update receipt_mails set send_at = now() + make_interval(secs => ${leaseSeconds})
        from erasures
        where erasures.id = erasure_id and (erasure_id, address) in (
          select erasure_id, address from receipt_mails join erasures on erasures.id = erasure_id
          where send_at <= now() and issued_at is not null
          order by send_at limit ${limit} for update of receipt_mails skip locked)
        returning erasure_id as "erasureId", address, attempts, receipt, encode(leaves, 'hex') as leaves,
          extract(epoch from now() - greatest(created_at, issued_at))::float8 as "ageSeconds"`),

    /** Deletes the address of a sent or abandoned e-mail. */
    end: async ({ erasureId, address }: Mail): Promise<void> => {
      await database.query(sql.unsafe`
        delete from receipt_mails where erasure_id = ${erasureId} and address = ${address}`)
    },

    /** Schedules the next attempt in this many seconds. */
    postpone: async ({ erasureId, address }: Mail, seconds: number): Promise<void> => {
      await database.query(sql.unsafe`
        update receipt_mails set attempts = attempts + 1, send_at = now() + make_interval(secs => ${seconds})
        where erasure_id = ${erasureId} and address = ${address}`)
    },
  }
}
