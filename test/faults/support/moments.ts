import { hostname } from 'node:os'
import { Type } from '../../../api/shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import type { TestProgram } from '../../support/process.ts'

const InHand = rowType(Type.Object({ id: Type.String(), attempt: Type.Integer(), worker: Type.String() }))
const Count = rowType(Type.Object({ count: Type.Integer() }))
const Failures = rowType(Type.Object({ code: Type.String(), count: Type.Integer() }))
const Seconds = rowType(Type.Object({ seconds: Type.Union([Type.Number(), Type.Null()]) }))

/** An attempt that a worker is running. */
export interface Attempt {
  readonly id: string
  readonly attempt: number
}

/** Name of a worker in its attempts. */
export function nameOf(worker: TestProgram): string {
  return `${hostname()}-${worker.pid}`
}

/** Running attempts by worker. */
export async function findInHand(database: Database): Promise<Map<string, Attempt>> {
  const rows = await database.any(sql.type(InHand)`
    select id, attempt, worker from generations where status = 'PROCESSING'`)
  return new Map(rows.map(({ worker, ...attempt }) => [worker, attempt]))
}

export interface Busy {
  readonly worker: TestProgram
  readonly inHand: Attempt
}

/** The workers that are running an attempt. */
export async function findBusy(database: Database, members: readonly TestProgram[]): Promise<Busy[]> {
  const all = await findInHand(database)
  return members.flatMap((worker) => {
    const inHand = all.get(nameOf(worker))
    return inHand ? [{ worker, inHand }] : []
  })
}

export function countUnfinished(database: Database): Promise<number> {
  return database.oneFirst(sql.type(Count)`
    select count(*) as count from generations where status in ('PENDING', 'PROCESSING')`)
}

/** Number of these generations with more than one attempt. */
export function countRepeated(database: Database, ids: readonly string[]): Promise<number> {
  return database.oneFirst(sql.type(Count)`
    select count(*) as count from generations where attempt > 1 and id = any(${sql.array([...ids], 'text')})`)
}

/** Number of these generations that failed. */
export async function countFailed(database: Database, ids: readonly string[]): Promise<number> {
  const counts = Object.values(await countFailures(database, ids))
  return counts.reduce((sum, count) => sum + count, 0)
}

/** Number of these generations that failed, by error code. */
export async function countFailures(database: Database, ids: readonly string[]): Promise<Record<string, number>> {
  const rows = await database.any(sql.type(Failures)`
    select error_code as code, count(*) as count from generations
    where status = 'FAILED' and id = any(${sql.array([...ids], 'text')}) group by error_code`)
  return Object.fromEntries(rows.map(({ code, count }) => [code, count]))
}

/** Seconds from the time until the start of an attempt after this one; null without such an attempt. */
export function secondsUntilNext(database: Database, { id, attempt }: Attempt, moment: Date): Promise<number | null> {
  return database.oneFirst(sql.type(Seconds)`
    select extract(epoch from min(at) - ${moment.toISOString()}::timestamptz)::float8 as seconds from history
    where generation_id = ${id} and attempt > ${attempt} and status = 'PROCESSING'`)
}

/** Number of attempts that a worker started after the time. */
export function countStarts(database: Database, worker: string, after: Date): Promise<number> {
  return database.oneFirst(sql.type(Count)`
    select count(*) as count from (
      select min(at) as started from history where worker = ${worker} and status = 'PROCESSING'
      group by generation_id, attempt
    ) as starts where started > ${after.toISOString()}::timestamptz`)
}

/** The value that this share (0 to 1) of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0
}
