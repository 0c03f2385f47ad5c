import type { ErrorCode, FieldProblem } from '../contract/errors.ts'
import { sql } from '../database/database.ts'
import { type Customer, isGenerationOf } from '../retention/customer.ts'
import { noteErasedJobs } from '../retention/erasure-record.store.ts'
import {
  anotherAttempt,
  type Move,
  moved,
  movesBy,
  moving,
  nextUpdate,
  requeueAgain,
  settleEnded,
  touched,
} from './transitions.store.ts'

/** Transitions that end generations or recover them from lost workers. */
export function createFailures(move: Move) {
  const moves = movesBy(move)
  return {
    /** Any unfinished state → FAILED, with a refund. `attempt` null: any attempt. */
    fail: async ({
      id,
      attempt,
      code,
      message,
      details = [],
    }: {
      id: string
      attempt: number | null
      code: ErrorCode
      message: string
      /** The fields of the call that caused the failure. */
      details?: readonly FieldProblem[]
    }) =>
      moves(moving`
        with ended as (
          update generations
          set status = 'FAILED', error_code = ${code}, error_message = ${message},
              error_details = ${details.length === 0 ? null : sql.jsonb(details.map(({ path, message }) => ({ path, message })))},
              lease_until = null,
              finished_at = now_ms(), updated_at = ${nextUpdate}
          where id = ${id} and status in ('PENDING', 'PROCESSING') and (${attempt}::int is null or attempt = ${attempt})
          returning ${touched}
        ), ${settleEnded}
        select ${moved} from ended, settled`),

    /** Cancels and refunds the unfinished generations of a customer, and those made of the customer's photos. Returns the attempts that this ended. */
    failOfCustomer: (customer: Customer, limit: number): Promise<readonly { id: string; attempt: number }[]> => {
      return move(moving`
        with theirs as (
          select id from generations
          where ${isGenerationOf(customer)} and status in ('PENDING', 'PROCESSING')
          order by id limit ${limit} for update
        ), ended as (
          update generations
          set status = 'FAILED', error_code = 'GENERATION_CANCELLED',
              error_message = 'The data of the customer has been erased.', lease_until = null,
              finished_at = now_ms(), updated_at = ${nextUpdate}
          from theirs where generations.id = theirs.id
          returning ${touched}
        ), ${noteErasedJobs(customer)}, ${settleEnded}
        select ${moved} from ended, settled`)
    },

    /** Recovers the generations of lost workers: PENDING again, or FAILED after the last attempt. Returns the count. */
    recoverLost: async (limit: number) =>
      (
        await move(moving`
        with lost as (
          select id from generations where status = 'PROCESSING' and lease_until < now()
          order by lease_until limit ${limit} for update skip locked
        ), again as (
          update generations
          set ${anotherAttempt('lost')}
          from lost where generations.id = lost.id
          returning ${touched}
        ), ended as (select * from again where status = 'FAILED'), ${settleEnded}, ${requeueAgain(0)}
        select ${moved} from again, settled`)
      ).length,

    /** Fails and refunds generations past their deadline. Returns the count. */
    failOverdue: async (limit: number) =>
      (
        await move(moving`
        with overdue as (
          select id from generations where status in ('PENDING', 'PROCESSING') and deadline_at <= now()
          order by deadline_at limit ${limit} for update skip locked
        ), ended as (
          update generations
          set status = 'FAILED', error_code = 'GENERATION_TIMEOUT',
              error_message = 'The generation was not finished before its deadline.', lease_until = null,
              finished_at = now_ms(), updated_at = ${nextUpdate}
          from overdue where generations.id = overdue.id
          returning ${touched}
        ), ${settleEnded}
        select ${moved} from ended, settled`)
      ).length,
  }
}
