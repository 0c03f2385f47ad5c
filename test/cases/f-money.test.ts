import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, it } from 'vitest'
import { createAccounts } from '../../api/accounts/accounts.store.ts'
import { sql } from '../../api/shared/database/database.ts'
import { type Answer, formOf, readSample, startDrape } from '../support/drape.ts'
import { type ReceivedEvent, readEvents } from '../support/events.ts'
import type { TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'

const PATH = '/tryon/v1/try-on'
/** A worker fails with it. */
const UNREACHABLE = { products: [{ images: [{ source: { url: 'https://shop.invalid/shirt.jpg' } }] }] }
const ORDER = ['PENDING', 'PROCESSING', 'COMPLETED', 'FAILED']

describe('credits under concurrency', async () => {
  const person = await readSample('persons/down-half-teal.jpg')
  const shirt = await readSample('garments/tshirt-navy.jpg')
  const drape = await startDrape({ credits: 0 })
  afterAll(() => drape.stop())

  let worker: Promise<TestProgram> | undefined
  const work = () => {
    worker ??= drape.startWorker({ CONCURRENCY: '2' })
    return worker
  }
  const files = () => ({ me: person, shirt })
  const inline = (more: object = {}) => ({
    products: [{ title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] }],
    person: { image: { source: { fileKey: 'me' } } },
    ...more,
  })
  const post = (key: string, headers = {}): Promise<Answer> =>
    drape.call('POST', PATH, { key, headers, body: formOf(inline(), files()) })
  const balanceOf = async (accountId: string) => (await createAccounts(drape.database).find(accountId))?.balance
  const assertBalanced = async () => expect(await createAccounts(drape.database).findLedgerGaps()).toEqual([])

  it('accepted generations run and are charged, also if their account becomes inactive before', async () => {
    const account = await drape.createAccount(2)
    const good = (await post(account.apiKey)).body.generationId
    const failing = await drape.call('POST', PATH, { key: account.apiKey, body: formOf(inline(UNREACHABLE), files()) })
    await drape.database.query(sql.unsafe`update accounts set is_active = false where id = ${account.id}`)
    await work()
    const statusOf = (id: string) =>
      drape.database.oneFirst(sql.unsafe`select status from generations where id = ${id}`) as Promise<string>
    await until(async () => (await statusOf(good)) === 'COMPLETED')
    await until(async () => (await statusOf(failing.body.generationId)) === 'FAILED')
    expect(await balanceOf(account.id)).toBe(1)
    await assertBalanced()
    // The inactive account can neither start a generation nor read the result.
    const read = () => drape.call('GET', `/tryon/v1/generations/${good}`, { key: account.apiKey })
    await until(async () => (await read()).status === 401)
    expect((await post(account.apiKey)).body.code).toBe('INVALID_API_KEY')
    await drape.database.query(sql.unsafe`update accounts set is_active = true where id = ${account.id}`)
    expect(await until(async () => (await read()).body.resultImageUrl)).toEqual(expect.any(String))
  })

  it('updatedAt and status only advance, and only a completed generation has a result', async () => {
    const { apiKey: key } = await drape.createAccount(20)
    await work()
    const start = async (more: object = {}) =>
      (await drape.call('POST', PATH, { key, body: formOf(inline(more), files()) })).body.generationId as string
    const ids = [await start(), await start({ output: { engine: 'mock' } }), await start(UNREACHABLE), await start()]
    const cancelled = drape.call('POST', `/tryon/v1/generations/${ids[3]}/cancel`, { key })
    const polled = async (id: string) => {
      const seen = []
      do {
        seen.push((await drape.call('GET', `/tryon/v1/generations/${id}`, { key })).body)
        await sleep(5)
      } while (!['COMPLETED', 'FAILED'].includes(seen.at(-1).status))
      return seen
    }
    const streamed = async (id: string) => {
      const url = `${drape.api.url}/tryon/v1/generations/${id}/events`
      const events: ReceivedEvent[] = []
      for await (const event of readEvents(await fetch(url, { headers: { 'x-api-key': key } }))) events.push(event)
      const times = events.map((event) => Number(event.id))
      expect(times.every((time, i) => i === 0 || time > times[i - 1])).toBe(true)
      return events.map(({ data }) => data)
    }
    const histories = await Promise.all(ids.flatMap((id) => [polled(id), streamed(id)]))
    await cancelled
    for (const history of histories) {
      for (const [i, one] of history.entries()) {
        const next = history[i + 1] ?? one
        expect(ORDER.indexOf(next.status)).toBeGreaterThanOrEqual(ORDER.indexOf(one.status))
        expect(Date.parse(next.updatedAt)).toBeGreaterThanOrEqual(Date.parse(one.updatedAt))
        if (next.status !== one.status) expect(next.updatedAt).not.toBe(one.updatedAt)
        expect(Object.hasOwn(one, 'resultImageUrl')).toBe(one.status === 'COMPLETED')
      }
    }
    expect(histories.map((history) => history.at(-1)?.status)).toEqual(
      ['COMPLETED', 'COMPLETED', 'FAILED', 'FAILED'].flatMap((status) => [status, status]),
    )
  })

  it('the balance is exact after concurrent top-ups, charges and refunds', async () => {
    const { id, apiKey } = await drape.createAccount(5)
    const accounts = createAccounts(drape.database)
    const answers: Answer[] = []
    const spend = async () => {
      const answer = await post(apiKey)
      answers.push(answer)
      if (answer.status !== 201) return
      if (answers.length % 2 === 0) {
        await drape.call('POST', `/tryon/v1/generations/${answer.body.generationId}/cancel`, { key: apiKey })
      }
    }
    const topUp = () => accounts.addCredits({ accountId: id, credits: 2, note: null })
    await Promise.all([...Array.from({ length: 25 }, spend), ...Array.from({ length: 10 }, topUp)])
    const kept = (await drape.database.oneFirst(sql.unsafe`
      select count(*)::int from generations where account_id = ${id} and status <> 'FAILED'`)) as number
    expect(await balanceOf(id)).toBe(5 + 20 - kept)
    await assertBalanced()
  })

  it('the store refuses credits that are not an integer within the limit and the balance', async () => {
    const { id } = await drape.createAccount(3)
    const accounts = createAccounts(drape.database)
    for (const credits of [0, -4, -0.5, 0.5, Number.NaN, Number.POSITIVE_INFINITY, Number.MAX_SAFE_INTEGER]) {
      await expect(accounts.addCredits({ accountId: id, credits, note: null })).rejects.toMatchObject({
        code: 'VALIDATION_FAILED',
      })
    }
    expect(await balanceOf(id)).toBe(3)
  })
})
