import { sql } from '../database/database.ts'

/** An end user of an account, identified by the account's opaque ID. */
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
  return sql.fragment`account_id = ${accountId} and external_user_id = ${externalUserId} and ${isOld}`
}
