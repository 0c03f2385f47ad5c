import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { AT_ONCE } from './load.ts'
import { EVENT_CONTEXT, EVENTS_AT_ONCE, sampleEvent } from './sample-events.ts'

const COLUMNS = 8
const placeholders = Array.from({ length: EVENTS_AT_ONCE }, (_, row) => {
  const own = Array.from({ length: COLUMNS }, (_, column) => `$${row * COLUMNS + column + 1}`)
  return `(${own.join(', ')})`
})
const INSERT = `insert into bare_events values ${placeholders.join(', ')} on conflict do nothing`

/** Events per second that a plain statement inserts into a plain table. */
export async function measureBareInsert(url: string, seconds: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: 10 })
  await pool.query(`
    create table if not exists bare_events (
      insert_id text primary key, name text, anonymous_id text, session_id text, product_id text, properties jsonb,
      context jsonb, happened_at timestamptz, received_at timestamptz default now())`)
  const started = performance.now()
  let batches = 0
  const insert = async () => {
    while (performance.now() < started + seconds * 1000) {
      await pool.query({ name: 'insert', text: INSERT, values: createRows().flat() })
      batches++
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, insert))
  const perSecond = (batches * EVENTS_AT_ONCE * 1000) / (performance.now() - started)
  await pool.end()
  return perSecond
}

function createRows(): unknown[][] {
  const { anonymous_id: anonymousId, session_id: sessionId, product_id: productId } = EVENT_CONTEXT
  const context = JSON.stringify(EVENT_CONTEXT)
  return Array.from({ length: EVENTS_AT_ONCE }, () => {
    const { event, properties, timestamp } = sampleEvent()
    return [randomUUID(), event, anonymousId, sessionId, productId, JSON.stringify(properties), context, timestamp]
  })
}
