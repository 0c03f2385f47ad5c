import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { startDrape } from '../support/drape.ts'
import { MAX_LOOP_MS, measureLoop } from '../support/loop-time.ts'

const MB = 1024 * 1024
const MAX_ANSWER_BYTES = 10_000

/** A text of at most 1 MB: up to `max` parts between `before` and `after`. */
function filled(before: string, part: (i: number) => string, after: string, max = Number.POSITIVE_INFINITY): string {
  const parts: string[] = []
  let length = before.length + after.length
  for (let i = 0; i < max; i++) {
    const next = part(i)
    length += next.length + 1
    if (length > MB) break
    parts.push(next)
  }
  return `${before}${parts.join(',')}${after}`
}

/** Below the limits of what is parsed. */
const FIELDS = 9900
const VALUES = 49_000

const person = '"person":{"image":{"source":{"id":"img_1"}}}'
const nested = (open: string, close: string, inner: string) => {
  const depth = Math.floor((MB - 200) / (open.length + close.length))
  return open.repeat(depth) + inner + close.repeat(depth)
}
const BODIES: Readonly<Record<string, string>> = {
  'products of zeros': filled('{"products":[', () => '0', `],${person}}`),
  'as many zeros as are parsed': filled('{"products":[', () => '0', `],${person}}`, VALUES),
  'products of empty objects': filled('{"products":[', () => '{}', `],${person}}`, VALUES),
  'images of zeros': filled('{"products":[{"images":[', () => '0', `]}],${person}}`, VALUES),
  'flat images': filled('{"products":[{"images":[', () => '{"url":"h"}', `]}],${person}}`, FIELDS),
  'images with sources': filled('{"products":[{"images":[', () => '{"source":{"url":1}}', `]}],${person}}`, 4900),
  'image addresses': filled('{"externalId":"a","imageUrls":[', () => '"x"', ']}', VALUES),
  'unknown fields': filled('{', (i) => `"f${i}":0`, '}'),
  'as many unknown fields as are parsed': filled('{', (i) => `"f${i}":0`, '}', FIELDS),
  'as many shapes of objects as are parsed': filled('{"a":[', (i) => `{"f${i}":0}`, ']}', FIELDS),
  'numbers as fields': filled('{', (i) => `"${i * 7}":0`, '}', FIELDS),
  'fields of a source': filled(
    '{"products":[{"externalId":"a"}],"person":{"image":{"source":{',
    (i) => `"f${i}":0`,
    '}}}}',
    FIELDS,
  ),
  classifications: filled(
    `{${person},"products":[{"images":[{"url":"http://a","classifications":{`,
    (i) => `"c${i}":[]`,
    '}}]}]}',
    FIELDS,
  ),
  'metadata of zeros': filled(`{${person},"products":[{"externalId":"a","metadata":{"a":[`, () => '0', ']}}]}', VALUES),
  'metadata of fields': filled(
    `{${person},"products":[{"externalId":"a","metadata":{`,
    (i) => `"${i}":{}`,
    '}}]}',
    FIELDS,
  ),
  'deep lists': nested('[', ']', '0'),
  'deep objects': nested('{"a":', '}', '0'),
  'deep metadata': `{${person},"products":[{"externalId":"a","metadata":{"a":${nested('[', ']', '0')}}}]}`,
  'a long id': `{${person},"externalUserId":"${'x'.repeat(MB - 100)}"}`,
  'a long address': `{"products":[{"images":[{"url":"http://${'a.'.repeat(MB / 2 - 100)}"}]}],${person}}`,
  'a long number': `{"products":${'9'.repeat(MB - 100)}}`,
  escapes: `{"products":"${'\\u0041'.repeat(MB / 6 - 100)}"}`,
  'a long field name': `{${person},"products":[{"externalId":"a"}],"${'x'.repeat(MB - 200)}":0}`,
  'long unknown fields of a source': `{"products":[{"externalId":"a"}],"person":{"image":{"source":{${[...Array(20).keys()].map((i) => `"${i}${'x'.repeat(50_000)}":0`)}}}}}`,
  'long numbers': filled(
    `{${person},"products":[{"externalId":"a","metadata":{"a":[`,
    () => '1234567890123456789',
    ']}}]}',
  ),
  'as many long numbers as values': filled(
    `{${person},"products":[{"externalId":"a","metadata":{"a":[`,
    (i) => `1234567890123${100_000 + i}`,
    ']}}]}',
    VALUES,
  ),
  'as many long numbers as are parsed': filled(
    `{${person},"products":[{"externalId":"a","metadata":{"a":[`,
    (i) => `1234567890123${100_000 + i}`,
    ']}}]}',
    2000,
  ),
  'a long number beside as many values as are parsed': filled(
    `{${person},"products":[{"externalId":"a","metadata":{"n":1234567890123456789,"a":[`,
    () => '0',
    ']}}]}',
    VALUES,
  ),
  'fields of long numbers': filled(
    `{${person},"products":[{"externalId":"a","metadata":{`,
    (i) => `"${i}":0.1234567890123456789`,
    '}}]}',
    FIELDS,
  ),
  'lists in lists': filled(
    `{${person},"products":[{"externalId":"a","metadata":{"a":[`,
    () => '[]',
    ']}}]}',
    VALUES / 2,
  ),
  'half surrogates': `{${person},"products":[{"externalId":"a","metadata":{"a":"${'\\ud800'.repeat(MB / 6 - 100)}"}}]}`,
  'a long address of products': `{"externalId":"a","imageUrls":["http://${'a.'.repeat(MB / 2 - 100)}"]}`,
  events: filled('{"context":{},"events":[', () => '0', ']}', VALUES),
  'event properties': `{"context":{},"events":[${filled('{"event":"widget:button_click","timestamp":"2026-01-01","$insert_id":"a","properties":{', (i) => `"${i}":0`, '}}', FIELDS)}]}`,
  'event time': `{"context":{},"events":[{"event":"widget:button_click","timestamp":"${'1 '.repeat(MB / 2 - 200)}","$insert_id":"a"}]}`,
  'event names': filled('{"context":{},"events":[', () => `{"event":"${'x'.repeat(20_000)}"}`, ']}', 50),
  'event times': filled(
    '{"context":{},"events":[',
    () => `{"event":"widget:button_click","timestamp":"${'2026-01-01T'.repeat(1800)}","$insert_id":"a"}`,
    ']}',
    50,
  ),
  'event properties of 50 events': filled(
    '{"context":{},"events":[',
    (i) =>
      `{"event":"widget:button_click","timestamp":"2026-01-01","$insert_id":"${i}","properties":{"a":[${'0,'.repeat(900)}0]}}`,
    ']}',
    50,
  ),
  'event context': filled('{"events":[0],"context":{', (i) => `"c${i}":0`, '}}', FIELDS),
}

/** Wide enough that every body is read. */
const BUDGETS = {
  EVENTS_PER_MINUTE: '100000000',
}

describe('a body of 1 MB', async () => {
  const drape = await startDrape({ separate: true, credits: 10, env: { PROXY_HOPS: '1', ...BUDGETS } })
  const accounts = createAccounts(drape.database)
  const publishableKey = await accounts.insertKey(drape.accountId, 'publishable')
  afterAll(() => drape.stop())

  const post = async (path: string, headers: Record<string, string>, body: string | FormData) => {
    const run = async () => {
      const response = await fetch(drape.api.url + path, { method: 'POST', headers, body })
      return { status: response.status, text: await response.text() }
    }
    const { ms, result } = await measureLoop(drape.api.pid, run, { enoughMs: MAX_LOOP_MS })
    const { status, text } = result
    if (process.env.SHOW_COST)
      console.log(`COST ${ms.toFixed(1)} ms ${path} ${status} ${text.length} B ${text.slice(0, 90)}`)
    expect(ms).toBeLessThan(MAX_LOOP_MS)
    expect(text.length).toBeLessThan(MAX_ANSWER_BYTES)
    return { status, body: JSON.parse(text) }
  }

  it.each(Object.entries(BODIES))('as %s costs little', async (name, body) => {
    const isEvents = name.startsWith('event')
    const proof: Record<string, string> = isEvents
      ? { authorization: `Bearer ${publishableKey}` }
      : { 'x-api-key': drape.apiKey }
    const headers = { 'content-type': 'application/json', ...proof }
    const routes = isEvents ? ['/storefront/v1/events'] : ['/tryon/v1/try-on', '/tryon/v1/products']
    for (const route of routes) {
      const { status, body: answer } = await post(
        route,
        { ...headers, ...(!isEvents && { 'idempotency-key': name }) },
        body,
      )
      if (isEvents) expect(answer.success).toBe(false)
      else expect(status).toBeLessThan(500)
      expect(answer.details?.length ?? 0).toBeLessThanOrEqual(20)
    }
  })

  it('as the JSON of a form costs as little', async () => {
    const form = new FormData()
    form.set('data', BODIES['unknown fields'])
    expect((await post('/tryon/v1/try-on', { 'x-api-key': drape.apiKey }, form)).status).toBe(400)
  })

  it('costs little behind a header of spaces that a proxy passes on', async () => {
    const spaces = `a${' '.repeat(15_000)}b`
    const forwarded = { 'x-forwarded-for': spaces }
    const answer = await post(
      '/storefront/v1/events',
      { ...forwarded, authorization: `Bearer ${publishableKey}` },
      '{}',
    )
    expect(answer.status).toBe(200)
  })
})
