import { afterAll, describe, expect, it } from 'vitest'
import { createOperators } from '../../../api/dashboard/sign-in/operators.store.ts'
import { sql } from '../../../api/shared/database/database.ts'
import { OPERATOR, startDashboard } from '../../support/dashboard.ts'
import { fillDashboard, fillQueues } from '../../support/dashboard-contents.ts'

describe('the events of the overview', async () => {
  const stopping = new AbortController()
  const dashboard = await startDashboard({ stopping: stopping.signal })
  afterAll(() => dashboard.stop())

  /** The events of an operator, and the time at which the session was last used. */
  const follow = async () => {
    const { cookie } = await dashboard.signIn()
    const isTheirs = sql.fragment`hash = sha256(${cookie.split('=')[1]}::text::bytea)`
    await dashboard.database.query(sql.unsafe`
      update operator_sessions set seen_at = now() - interval '29 minutes' where ${isTheirs}`)
    const answer = await fetch(`${dashboard.url}/live`, { headers: { cookie }, redirect: 'manual' })
    const { body } = answer.status === 200 ? answer : { body: null }
    const events = (body as unknown as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]()
    const idle = () =>
      dashboard.database.oneFirst(sql.unsafe`
        select extract(minutes from now() - seen_at)::int from operator_sessions where ${isTheirs}`)
    return { events, idle, isTheirs }
  }
  const textOf = ({ value }: { readonly value?: Uint8Array }) => Buffer.from(value ?? []).toString()
  /** A sign of life may come before the end. */
  const isEnd = async (events: AsyncIterator<Uint8Array>) => {
    const { value, done } = await events.next()
    return done || (textOf({ value }) === ': alive\n\n' && (await events.next()).done)
  }

  it('show what waits now, without keeping the session from ending', async () => {
    const { events, idle, isTheirs } = await follow()
    expect(textOf(await events.next())).toContain('Nothing waits and nothing runs.')
    await fillDashboard(dashboard, '<script>')
    const later = textOf(await events.next())
    expect(later).toMatch(/^id: 20.*\ndata: "/)
    expect(JSON.parse(later.split('\ndata: ')[1])).toContain('<span>Waiting</span><strong>3</strong>')
    expect(await idle()).toBe(29)
    await dashboard.database.query(sql.unsafe`
      update operator_sessions set seen_at = now() - interval '31 minutes' where ${isTheirs}`)
    expect(await isEnd(events)).toBe(true)
  }, 30_000)

  it('are for operators only', async () => {
    const { status, headers } = await fetch(`${dashboard.url}/live`, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([303, '/sign-in?next=%2Flive'])
  })

  it('end when the operator is disabled, and when the API stops', async () => {
    const [disabled, stopped] = [await follow(), await follow()]
    await createOperators(dashboard.database).setActive(OPERATOR.email, false)
    await createOperators(dashboard.database).setActive(OPERATOR.email, true)
    const last = await follow()
    expect(textOf(await disabled.events.next())).toContain('data: ')
    expect(await isEnd(disabled.events)).toBe(true)
    stopping.abort()
    await last.events.next()
    expect(await isEnd(last.events)).toBe(true)
    await stopped.events.return?.()
  }, 30_000)
})

describe('the menu', () => {
  it('counts open removals and reviews, and failing webhooks', async () => {
    const dashboard = await startDashboard()
    try {
      const contents = await fillDashboard(dashboard, 'Counted')
      await fillQueues(dashboard.database, contents)
      await dashboard.database.query(sql.unsafe`update webhook_endpoints set failing_since = now()`)
      const { text } = await (await dashboard.signIn()).get('/accounts')
      const badges = [
        ...text.matchAll(/<a href="([^"]+)">\w+ <span class="badge bad">(\d+)<span class="unseen">([^<]+)</g),
      ]
      expect(badges.map(([, ...found]) => found)).toEqual([
        ['/removals', '1', ' open'],
        ['/reviews', '1', ' open'],
        ['/webhooks', '1', ' failing'],
      ])
    } finally {
      await dashboard.stop()
    }
  })
})
