import { sql } from '../database/database.ts'

/** A person behind a caller's opaque id. */
export interface Customer {
  readonly accountId: string
  readonly externalUserId: string
  /** Only what was created until then, as when an earlier erasure is repeated; everything when missing. */
  readonly before?: Date
}

/** Whether a row of images, objects or generations is the customer's. */
export function isOf({ accountId, externalUserId, before }: Customer) {
  const isOld =
    before === undefined ? sql.fragment`true` : sql.fragment`created_at <= ${before.toISOString()}::timestamptz`
  return sql.fragment`account_id = ${accountId} and external_user_id = ${externalUserId} and ${isOld}`
}
