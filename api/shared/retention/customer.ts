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

/** Whether a row of images, objects or generations is stored for the customer. */
export function isOf(customer: Customer) {
  return belongsTo(customer, 'external_user_id')
}

/** Whether a row of `generations` is of the customer: stored for them, or made of their photo. */
export function isGenerationOf(customer: Customer) {
  return sql.fragment`(${isOf(customer)} or ${belongsTo(customer, 'photo_user_id')})`
}

/** Whether a row of `objects` is of the customer: stored for them, or for one of their generations. */
export function isObjectOf(customer: Customer) {
  return sql.fragment`(${isOf(customer)} or generation_id = any(array(
    select id from generations where ${isGenerationOf(customer)})))`
}

/** The IDs under which the customer may be stored, as an array of SQL. */
export function idsOf({ accountId, externalUserId }: Customer) {
  return sql.fragment`customer_ids(${accountId}, ${externalUserId})`
}

function belongsTo(customer: Customer, column: 'external_user_id' | 'photo_user_id') {
  const { accountId, before } = customer
  const isOld =
    before === undefined ? sql.fragment`true` : sql.fragment`created_at <= ${before.toISOString()}::timestamptz`
  return sql.fragment`(account_id = ${accountId} and ${sql.identifier([column])} = any(${idsOf(customer)}) and ${isOld})`
}
