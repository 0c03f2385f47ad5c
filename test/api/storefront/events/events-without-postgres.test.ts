import { afterAll, describe, expect, it } from 'vitest'
import { sql } from '../../../../api/shared/database/database.ts'
import { createRandom } from '../../../faults/support/random.ts'
import { createLink } from '../../../faults/support/tcp-proxy.ts'
import { APP_CONTEXT, appHeaders, eventOf, PAGE_CONTEXT } from '../../../support/analytics-events.ts'
import { startDrape } from '../../../support/drape.ts'
import { startProgram } from '../../../support/process.ts'
import { createDevelopmentShop } from '../../../support/shop.ts'
import { until } from '../../../support/until.ts'

/** Less than the time limit of a statement and of a silent connection; much more than a response takes on a busy machine. */
const SOON_MS = 12_000

describe('events and e-mail addresses while Postgres is unavailable', async () => {
  const drape = await startDrape()
  const shop = await createDevelopmentShop(drape)
  const url = new URL(drape.env.DATABASE_URL)
  const link = await createLink(Number(url.port), createRandom(1))
  url.port = String(link.port)
  const api = await startProgram('api', { ...drape.env, DATABASE_URL: url.href })
  afterAll(async () => {
    await api.end()
    await link.close()
    await drape.stop()
  })

  const send = async (path: string, headers: Record<string, string>, body: object) => {
    const response = await fetch(`${api.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(SOON_MS),
    })
    const answer = (await response.json()) as { success: boolean; message?: string; error?: { code: string } }
    return { status: response.status, body: answer }
  }
  const sendEvent = (headers: Record<string, string>, id: string) =>
    send('/storefront/v1/events', headers, { events: [eventOf(id)], context: APP_CONTEXT })
  const track = (id: string) =>
    send('/public/tracking/events', shop.headers, { events: [eventOf(id)], context: PAGE_CONTEXT })
  const collect = (email: string) => send('/public/collect-email', shop.headers, { email })
  const count = (id: string) =>
    drape.database.oneFirst(sql.unsafe`select count(*)::int from events where insert_id = ${id}`)
  const notNow = {
    status: 200,
    body: { success: false, message: 'Events cannot be stored right now. Send the batch again.' },
  }

  it('are refused with a retryable error within a time limit', async () => {
    const [known, unknown] = [await appHeaders(drape), await appHeaders(drape)]
    expect((await sendEvent(known, 'before')).body).toEqual({ success: true })
    link.injectFaults({ partitioned: true })
    const answers = await Promise.all([sendEvent(known, 'during'), sendEvent(unknown, 'during'), track('during')])
    for (const answer of answers) expect(answer).toEqual(notNow)
    const flood = await Promise.all(Array.from({ length: 300 }, (_, i) => sendEvent(known, `flood-${i}`)))
    for (const { status, body } of flood) {
      // What waits for the database is bounded: beyond that, batches are refused.
      if (status === 429) expect(body).toEqual({ success: false, message: expect.stringMatching(/^Too many batches/) })
      else expect({ status, body }).toEqual(notNow)
    }
    link.injectFaults()
    await until(async () => (await sendEvent(known, 'during')).body.success)
    expect((await track('during')).body).toEqual({ success: true })
    expect([await count('before'), await count('during')]).toEqual([1, 1])
  })

  it('do not make the shopper wait who leaves an e-mail address, which is stored once Postgres responds', async () => {
    link.injectFaults()
    await until(async () => (await collect('before@example.com')).body.success)
    link.injectFaults({ partitioned: true })
    expect(await collect('during@example.com')).toEqual({
      status: 200,
      body: { success: false, message: 'Try again later.' },
    })
    link.injectFaults()
    const find = sql.unsafe`select from leads where email = 'during@example.com'`
    await until(() => drape.database.maybeOne(find))
  })

  it('are refused with a retryable error when connections break', async () => {
    const headers = await appHeaders(drape)
    await link.close()
    for (const answer of [await sendEvent(headers, 'broken'), await track('broken')]) expect(answer).toEqual(notNow)
    expect((await collect('broken@example.com')).body).toEqual({ success: false, message: 'Try again later.' })
    // The shopper is answered before the database has refused.
    await until(() => api.output().includes('"msg":"lead not stored"'))
    const metrics = await (await fetch(`${api.probeUrl}/metrics`)).text()
    expect(metrics).toMatch(/^drape_leads_total\{outcome="dropped"\} [1-9]/m)
  })

  it('are still refused without authentication', async () => {
    expect((await sendEvent({}, 'nobody')).status).toBe(401)
  })
})
