import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../api/shared/database/database.ts'
import { APP_CONTEXT, appHeaders, eventOf, PAGE_CONTEXT } from '../support/analytics-events.ts'
import { startDrape } from '../support/drape.ts'
import { createDevelopmentShop } from '../support/shop.ts'

const noise = (bytes: number) => randomBytes(bytes).toString('base64url').slice(0, bytes)

describe('a flood of events', async () => {
  let number = 0

  const drape = await startDrape({
    env: { PROXY_HOPS: '1', EVENTS_PER_MINUTE: '20000' },
  })
  const headers = await appHeaders(drape)
  afterAll(() => drape.stop())

  const storedBytes = async () => {
    await drape.database.query(sql.unsafe`checkpoint`)
    return (await drape.database.oneFirst(sql.unsafe`
      select sum(pg_total_relation_size(oid))::float8 from pg_class where relkind = 'r' and relname like 'event%'`)) as number
  }
  const batchOf = (events: number, context: object) =>
    JSON.stringify({ context, events: Array.from({ length: events }, () => eventOf(`flood-${number++}`)) })
  const post = (path: string, more: Record<string, string>, body: string) =>
    fetch(`${drape.api.url}${path}`, { method: 'POST', headers: { 'content-type': 'application/json', ...more }, body })

  /** Sends batches until one is refused, and compares what was sent with what was stored. */
  async function flood(path: string, more: Record<string, string>, context: () => object) {
    const before = await storedBytes()
    let sent = 0
    for (let batch = 0; batch < 400; batch++) {
      const body = batchOf(50, context())
      sent += body.length
      const answer = await post(path, more, body)
      if (answer.status === 429) return { answer, sent, stored: (await storedBytes()) - before }
      expect(answer.status).toBe(200)
    }
    throw new Error('no batch was refused')
  }

  it.each([
    [
      'large page fields',
      () => ({ $current_url: noise(8000), $raw_user_agent: noise(8000), $pathname: noise(8000) }),
      2,
    ],
    ['long ids', () => ({ session_id: `sess_${noise(250)}`, product_id: noise(255), variant_id: noise(255) }), 2],
    ['nothing but events', () => ({}), 2.2],
  ])('with a public key and %s stores no multiple of what is sent, and ends at 429', async (_, context, times) => {
    // Each flood has an address of its own.
    const more = { ...headers, 'x-forwarded-for': `198.51.100.${++number % 250}` }
    const { answer, sent, stored } = await flood('/storefront/v1/events', more, () => ({
      ...APP_CONTEXT,
      ...context(),
    }))
    console.info(`sent ${sent} bytes, stored ${stored} bytes`)
    expect(stored).toBeLessThan(times * sent)
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(await answer.json()).toEqual({ success: false, message: expect.stringMatching(/^Too many events/) })
  })

  it('of compressed batches spends what they inflate to', async () => {
    const more = { ...headers, 'x-forwarded-for': `198.51.100.${++number % 250}`, 'content-encoding': 'gzip' }
    const long = 'A'.repeat(8000)
    const context = { ...APP_CONTEXT, $current_url: long, $raw_user_agent: long, $pathname: long }
    let inflated = 0
    for (let status = 200; status === 200; ) {
      const body = batchOf(1, context)
      const answer = await fetch(`${drape.api.url}/storefront/v1/events`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...more },
        body: gzipSync(body),
      })
      status = answer.status
      if (status === 200) inflated += body.length
      else expect(status).toBe(429)
      expect(inflated).toBeLessThanOrEqual(3_400_000)
    }
  })

  it('with one public key spends nothing of another key of the account', async () => {
    const of = async () => ({ ...(await appHeaders(drape)), 'x-forwarded-for': `198.51.100.${++number % 250}` })
    const [flooding, other] = [await of(), await of()]
    // Each batch comes from another address, and none is stored: its budgets come first.
    const send = (key: Record<string, string>) =>
      post(
        '/storefront/v1/events',
        { ...key, 'x-forwarded-for': `203.0.113.${++number % 250}` },
        JSON.stringify({ events: Array(1000).fill(0) }),
      )
    const answers = await Promise.all(Array.from({ length: 21 }, () => send(flooding)))
    expect(answers.map(({ status }) => status)).toContain(429)
    expect((await send(other)).status).toBe(200)
  })

  it('behind the proxy of a shop ends at 429 too', async () => {
    const shop = await createDevelopmentShop(drape)
    const { answer } = await flood('/public/tracking/events', { ...shop.headers }, () => PAGE_CONTEXT)
    expect(await answer.json()).toEqual({ success: false, message: expect.stringMatching(/^Too many events/) })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  })
})
