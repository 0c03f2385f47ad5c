import { sql } from '../database/database.ts'

/**
 * An end user of an account: an ID as images name their owner, or a value that any surface was sent for the end user, such as
 * the customer ID of a shop's platform, which names the shoppers of all shops of the account with this value.
 */
export interface Customer {
  readonly accountId: string
  readonly externalUserId: string
  /** Limits the erasure to data created before this time, when an earlier erasure is repeated. Absent: all data. */
  readonly before?: Date
}

/** Whether a row of images, objects or generations belongs to the customer. */
export function isOf({ accountId, externalUserId, before }: Customer) {
  const isOld =
    before === undefined ? sql.fragment`true` : sql.fragment`created_at <= ${before.toISOString()}::timestamptz`
  return sql.fragment`account_id = ${accountId} and external_user_id = any(${idsOf({ accountId, externalUserId })}) and ${isOld}`
}

/** The IDs under which the customer may be stored, as an array of SQL. */
export function idsOf({ accountId, externalUserId }: Customer) {
  return sql.fragment`customer_ids(${accountId}, ${externalUserId})`
}
