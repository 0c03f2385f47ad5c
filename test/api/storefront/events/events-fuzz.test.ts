import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { StorefrontBatch, TrackingBatch } from '../../../../api/storefront/events/events.schema.ts'
import { APP_CONTEXT, appHeaders, eventOf, PAGE_CONTEXT } from '../../../support/analytics-events.ts'
import { startDrape } from '../../../support/drape.ts'
import { hostileTexts, hostileValues, spoiled } from '../../../support/fuzz/hostile-values.ts'
import { valuesOf } from '../../../support/fuzz/schema-values.ts'
import type { JsonSchema } from '../../../support/openapi-document.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'

const RUNS = process.env.LONG_TESTS === '1' ? 5000 : 300
const options = { numRuns: RUNS, seed: 20_261_121 }

describe('any batch of events', async () => {
  const drape = await startDrape()
  await createDevelopmentShop(drape)
  const headers = await appHeaders(drape)
  afterAll(() => drape.stop())

  const post = (path: string, more: Record<string, string>, body: string) =>
    drape.call('POST', path, { key: null, headers: { 'content-type': 'application/json', ...more }, body })
  const toStorefront = (body: string) => post('/storefront/v1/events', headers, body)
  const toTracking = (body: string) => post('/public/tracking/events', { 'x-drape-shop': 'shop.test' }, body)
  const countAll = () => drape.database.oneFirst(sql.unsafe`select count(*)::int from events`) as Promise<number>

  const vocabulary = { resolve: (schema: JsonSchema) => schema, texts: { anonymous_id: ['anon_1f'] } }
  const good = (schema: object) => valuesOf(schema as JsonSchema, vocabulary)
  const times = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  const timed = (schema: object) =>
    fc.tuple(good(schema), times).map(([batch, time]) => {
      const { events, context } = batch as { events: object[]; context: object }
      return { events: events.map((event) => ({ ...event, timestamp: time.toISOString() })), context }
    })

  it('is accepted if it matches the document', async () => {
    await fc.assert(
      fc.asyncProperty(timed(StorefrontBatch), timed(TrackingBatch), async (storefront, tracking) => {
        const answers = [await toStorefront(JSON.stringify(storefront)), await toTracking(JSON.stringify(tracking))]
        for (const answer of answers) expect([answer.status, answer.body]).toEqual([200, { success: true }])
      }),
      options,
    )
    expect(await countAll()).toBeGreaterThan(RUNS)
  })

  it('gets a response that tells whether it was accepted', async () => {
    const texts = fc.oneof(
      { weight: 6, arbitrary: fc.oneof(spoiled(good(StorefrontBatch)), spoiled(good(TrackingBatch))).map(jsonOf) },
      { weight: 2, arbitrary: hostileValues.map(jsonOf) },
      { weight: 1, arbitrary: hostileTexts },
      { weight: 1, arbitrary: fc.constantFrom('[', '{"a":').map((text) => text.repeat(5000)) },
    )
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        for (const send of [toStorefront, toTracking]) {
          const { status, body } = await send(text)
          expect(status).toBe(200)
          if (!body.success) expect(body.message).toMatch(/\S/)
        }
      }),
      options,
    )
    expect(drape.api.output()).not.toMatch(/request failed|storing events failed|unhandled/i)
  })

  it('has its valid events stored once each, and its first invalid event named', async () => {
    const bad = fc.constantFrom<object | null>(
      null,
      { event: 'widget:clicked' },
      { timestamp: 'now' },
      { $insert_id: '' },
      { properties: 'none' },
    )
    const ids = fc.integer({ min: 0, max: 500 }).map((id) => `mixed-${id}`)
    const events = fc.array(fc.tuple(ids, fc.option(bad, { freq: 3, nil: undefined })), { minLength: 1, maxLength: 50 })
    const known = new Set<string>()
    await fc.assert(
      fc.asyncProperty(events, fc.boolean(), async (sent, isApp) => {
        const batch = sent.map(([id, flaw]) => (flaw === null ? null : eventOf(id, flaw)))
        const context = isApp ? APP_CONTEXT : PAGE_CONTEXT
        const { body } = await (isApp ? toStorefront : toTracking)(JSON.stringify({ events: batch, context }))
        const first = sent.findIndex(([, flaw]) => flaw !== undefined)
        if (first < 0) expect(body).toEqual({ success: true })
        else expect(body).toEqual({ success: false, message: expect.stringContaining(`events[${first}]`) })
        for (const [id, flaw] of sent) if (flaw === undefined) known.add(id)
      }),
      options,
    )
    const stored = await drape.database.anyFirst(
      sql.unsafe`select insert_id from events where insert_id like 'mixed-%' order by 1`,
    )
    expect(stored).toEqual([...known].sort())
  })
})

function jsonOf(value: unknown): string {
  return JSON.stringify(value) ?? ''
}
