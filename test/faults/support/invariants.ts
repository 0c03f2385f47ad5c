import { Type } from '../../../api/shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../../api/shared/database/database.ts'
import { sweep } from '../../../api/shared/retention/erase.ts'
import { createRetention } from '../../../api/shared/retention/retention.store.ts'
import type { ObjectStorage } from '../../../api/shared/storage/object.ts'

export interface World {
  readonly database: Database
  readonly storage: ObjectStorage
  /** The keys of all stored results, with or without a row in Postgres. */
  listResults(): Promise<readonly string[]>
}

const Id = rowType(Type.Object({ id: Type.String() }))
const Result = rowType(Type.Object({ id: Type.String(), key: Type.String() }))

/** Violations of the common invariants, one sentence each; empty if nothing was lost or charged twice. */
export async function findViolations(world: World, accepted: readonly string[]): Promise<string[]> {
  return [
    ...(await findLost(world.database, accepted)),
    ...(await findWrongMoney(world.database)),
    ...(await findWrongMoves(world.database)),
    ...(await findWrongResults(world)),
  ]
}

async function findLost(database: Database, accepted: readonly string[]): Promise<string[]> {
  return sentences(database, {
    'accepted, but there is no such generation': sql.type(Id)`
      select id from unnest(${sql.array([...accepted], 'text')}) as id
      where not exists (select from generations where generations.id = id.id)`,
    'has not ended': sql.type(Id)`select id from generations where status not in ('COMPLETED', 'FAILED')`,
    'has ended and is still on the relay’s list': sql.type(Id)`
      select generation_id as id from outbox join generations on generations.id = generation_id
      where status in ('COMPLETED', 'FAILED')`,
  })
}

async function findWrongMoney(database: Database): Promise<string[]> {
  return sentences(database, {
    'balance is not the sum of its ledger': sql.type(Id)`
      select accounts.id from accounts left join ledger on account_id = accounts.id
      group by accounts.id having balance <> coalesce(sum(amount), 0)`,
    'is not charged exactly once': sql.type(Id)`
      select generations.id from generations left join ledger on generation_id = generations.id and kind = 'reserve'
      where cost > 0 group by generations.id having count(ledger.id) <> 1 or sum(-amount) <> cost`,
    'is charged and does not exist': sql.type(Id)`
      select generation_id as id from ledger
      where generation_id is not null and not exists (select from generations where generations.id = generation_id)`,
    'is given back though it did not fail, or failed and is not given back': sql.type(Id)`
      select generations.id from generations left join ledger on generation_id = generations.id and kind = 'refund'
      where cost > 0 group by generations.id
      having count(ledger.id) <> case when status = 'FAILED' then 1 else 0 end`,
  })
}

async function findWrongMoves(database: Database): Promise<string[]> {
  return sentences(database, {
    'went back after its end': sql.type(Id)`
      select distinct generation_id as id from (
        select *, lag(status) over moves as before from history window moves as (partition by generation_id order by id)
      ) as steps where before in ('COMPLETED', 'FAILED') and status <> before`,
    'went back to waiting in the same attempt': sql.type(Id)`
      select distinct generation_id as id from (
        select *, lag(status) over moves as before, lag(attempt) over moves as earlier
        from history window moves as (partition by generation_id order by id)
      ) as steps where before = 'PROCESSING' and status = 'PENDING' and attempt <> earlier + 1`,
    'was started twice in one attempt': sql.type(Id)`
      select generation_id as id from (
        select generation_id, attempt, worker from history where status = 'PROCESSING'
        group by generation_id, attempt, worker
      ) as starts group by generation_id, attempt having count(*) > 1`,
    'changed, and its time did not': sql.type(Id)`
      select distinct generation_id as id from (
        select *, lag(updated_at) over moves as before from history window moves as (partition by generation_id order by id)
      ) as steps where updated_at <= before`,
  })
}

/** Before the check, all data is made 1 hour older, and swept. */
async function findWrongResults({ database, storage, listResults }: World): Promise<string[]> {
  await database.query(sql.unsafe`
    update objects set expires_at = expires_at - interval '61 minutes', created_at = created_at - interval '61 minutes'`)
  await sweep({
    retention: createRetention(database),
    storage,
  })
  const completed = await database.any(
    sql.type(Result)`select id, result_key as key from generations where status = 'COMPLETED'`,
  )
  const stored = new Set(await listResults())
  const known = new Set(completed.map(({ key }) => key))
  return [
    ...completed.filter(({ key }) => !stored.has(key)).map(({ id }) => `${id} is completed and has no result`),
    ...[...stored].filter((key) => !known.has(key)).map((key) => `${key} is stored and belongs to no result`),
  ]
}

async function sentences(
  database: Database,
  queries: Readonly<Record<string, ReturnType<ReturnType<typeof sql.type<typeof Id>>>>>,
): Promise<string[]> {
  const found: string[] = []
  for (const [sentence, query] of Object.entries(queries)) {
    for (const { id } of await database.any(query)) found.push(`${id} ${sentence}`)
  }
  return found
}
