import { hash } from 'node:crypto'
import { sql } from '../../shared/database/database.ts'

/**
 * Whether a visitor (`anon_…`) of a shop is in its holdout, which sees no button. The same visitor always gets the same answer; a
 * higher share only adds visitors; shops draw independently. Equals `isHeldRow`.
 */
export function isHeldOut(shopId: string, anonymousId: string, percent: number): boolean {
  const draw = Number.parseInt(hash('sha256', `${shopId}\n${anonymousId}`).slice(0, 8), 16)
  return draw * 100 < percent * 2 ** 32
}

/** Whether the visitor of a row, its `anonymous_id`, is in the holdout. */
export function isHeldRow(shopId: string, percent: number) {
  return sql.fragment`
    ('x' || left(encode(sha256(convert_to(${shopId} || chr(10) || anonymous_id, 'UTF8')), 'hex'), 8))::bit(32)::bigint * 100
      < ${percent} * 4294967296`
}
