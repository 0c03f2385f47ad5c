import { Type } from '../../shared/contract/schema.ts'
import { type Database, rowType, sql } from '../../shared/database/database.ts'

const Row = rowType(Type.Object({ removals: Type.Integer(), reviews: Type.Integer(), webhooks: Type.Integer() }))

/** What waits for operators, by the path of its list. */
export type OpenWork = ReadonlyMap<string, { readonly count: number; readonly what: string }>

/** Every page counts it: pages within this time share a count. */
const SHARED_MS = 10_000

/** Creates a count of open removal requests and reviews, and of failing webhooks. */
export function createOpenWork(database: Pick<Database, 'one'>): () => Promise<OpenWork> {
  return share(SHARED_MS, async () => {
    const { removals, reviews, webhooks } = await database.one(sql.type(Row)`
      select (select count(*) from removal_requests where state = 'OPEN') as removals,
        (select count(*) from safety_reviews where state = 'OPEN') as reviews,
        (select count(*) from webhook_endpoints where failing_since is not null and is_active) as webhooks`)
    return new Map([
      ['/removals', { count: removals, what: 'open' }],
      ['/reviews', { count: reviews, what: 'open' }],
      ['/webhooks', { count: webhooks, what: 'failing' }],
    ])
  })
}

/** Shares a result among calls within this time. */
export function share<T>(milliseconds: number, load: () => Promise<T>): () => Promise<T> {
  let [shared, until]: [Promise<T> | null, number] = [null, 0]
  return () => {
    if (shared === null || performance.now() >= until) {
      shared = load()
      shared.catch(() => {
        shared = null
      })
      until = performance.now() + milliseconds
    }
    return shared
  }
}
