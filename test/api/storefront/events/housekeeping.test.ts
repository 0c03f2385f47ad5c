import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { createEventOutbox } from '../../../../api/storefront/events/event-outbox.store.ts'
import { createEvents, type EventBatch } from '../../../../api/storefront/events/events.store.ts'
import { keepEventDays } from '../../../../api/storefront/events/housekeeping.ts'
import { createCommandLine } from '../../../support/command-line.ts'
import { openTestDatabase } from '../../../support/postgres.ts'

const DAY_MS = 86_400_000
const NOON = new Date('2026-11-21T12:00:00Z')
const daysBefore = (days: number, time = NOON) => new Date(time.getTime() - days * DAY_MS)

describe('event partitions', async () => {
  const { database, url } = await openTestDatabase({ poolSize: 8 })

  const keep = (now: Date, retentionDays = 90) =>
    keepEventDays({ events: createEvents(database), outbox: createEventOutbox(database), retentionDays }, now)
  const partitions = async () =>
    (await database.anyFirst(
      sql.unsafe`select relid::text from pg_partition_tree('events') where isleaf order by 1`,
    )) as readonly string[]
  const insert = (insertId: string, receivedAt: Date) => createEvents(database).insert(batchOf(insertId, receivedAt))
  function batchOf(insertId: string, receivedAt: Date): EventBatch {
    return {
      origin: {
        accountId: 'acc_1',
        shopId: 'shop_1',
        anonymousId: 'anon_1',
        sessionId: null,
        customerId: null,
        customerEmail: null,
        customerSigned: false,
        productId: null,
        variantId: null,
        context: {},
      },
      events: [
        { name: 'api:error', insertId, happenedAt: receivedAt, properties: '{}', productId: null, generationId: null },
      ],
      receivedAt,
    }
  }
  const ids = () => database.anyFirst(sql.unsafe`select insert_id from events order by insert_id`)

  it('are created in advance', async () => {
    await keep(NOON)
    const names = [21, 22, 23, 24, 25].map((day) => `events_202611${day}`)
    expect(await partitions()).toEqual(names)
    await keep(NOON)
    expect(await partitions()).toEqual(names)
  })

  it('are created on demand, also by many concurrent inserts', async () => {
    const days = [0, 1, 2].map((day) => new Date(Date.UTC(2027, 0, 1 + day, 23, 59)))
    const stored = await Promise.all(
      Array.from({ length: 24 }, (_, i) => insert(`unforeseen-${i}`, days[i % days.length])),
    )
    expect(stored).toEqual(Array(24).fill(1))
    expect(await partitions()).toEqual(
      expect.arrayContaining(['events_20270101', 'events_20270102', 'events_20270103']),
    )
  })

  it('are dropped after their retention, and their events can be stored again', async () => {
    await insert('old', daysBefore(91))
    await insert('edge', daysBefore(90))
    await insert('young', daysBefore(89))
    expect(await insert('old', NOON)).toBe(0)
    expect(await keep(NOON)).toBe(1)
    expect(await ids()).toEqual(expect.arrayContaining(['edge', 'young']))
    expect(await ids()).not.toContain('old')
    expect(await insert('old', NOON)).toBe(1)
    expect(await insert('edge', NOON)).toBe(0)
    expect(await keep(NOON, 1)).toBe(2)
  })

  it('are removed from the outbox too', async () => {
    const forwarding = createEvents(database, { forward: true })
    for (const [insertId, receivedAt] of [
      ['untold', daysBefore(91)],
      ['to tell', daysBefore(1)],
    ] as const) {
      await forwarding.insert(batchOf(insertId, receivedAt))
    }
    await keep(NOON)
    expect(await database.anyFirst(sql.unsafe`select insert_id from event_outbox`)).toEqual(['to tell'])
  })

  it('are dropped once by several concurrent processes', async () => {
    for (let days = 200; days < 205; days++) await insert(`many-${days}`, daysBefore(days))
    const dropped = await Promise.all(Array.from({ length: 4 }, () => keep(NOON)))
    expect(dropped.reduce((sum, count) => sum + count)).toBe(5)
    expect(await partitions()).not.toContain('events_20260505')
  })

  it('are not dropped while they are read, and block no inserts', async () => {
    await insert('read', daysBefore(300))
    const reader = new pg.Client({ connectionString: url })
    await reader.connect()
    await reader.query(`begin; select * from events where received_on = '${daysBefore(300).toISOString()}'`)
    expect(await Promise.all([keep(NOON), insert('meanwhile', NOON)])).toEqual([0, 1])
    await reader.end()
    expect(await ids()).toContain('read')
    expect(await keep(NOON)).toBe(1)
  })

  it('are dropped by the sweep after the configured days', async () => {
    const now = new Date()
    await insert('swept', daysBefore(8, now))
    await insert('kept', daysBefore(6, now))
    const { answered } = createCommandLine(url, { EVENT_RETENTION_DAYS: '7' })
    expect((await answered('sweep')).eventDays).toBeGreaterThanOrEqual(1)
    expect(await ids()).toContain('kept')
    expect(await ids()).not.toContain('swept')
  })
})
