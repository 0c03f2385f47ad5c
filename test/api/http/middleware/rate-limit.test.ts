import { afterAll, describe, expect, it } from 'vitest'
import { spreadSeconds } from '../../../../api/http/middleware/rate-limit.ts'
import { type Answer, startDrape } from '../../../support/drape.ts'
import { startProgram } from '../../../support/process.ts'
import { startOwnRedis } from '../../../support/redis.ts'

describe('the rate limit', async () => {
  const redis = await startOwnRedis()
  const drape = await startDrape({ env: { REDIS_URL: redis.url } })
  const replica = await startProgram('api', drape.env)
  afterAll(async () => {
    await replica.end()
    await drape.stop()
    await redis.kill()
  })

  const read = (key: string, api = drape.api.url): Promise<Response> =>
    fetch(`${api}/tryon/v1/account/credits`, { headers: { 'x-api-key': key } })
  // An invalid body: the request counts, and has no other effect.
  const write = (key: string, api = drape.api.url): Promise<Response> =>
    fetch(`${api}/tryon/v1/try-on`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: '{}',
    })
  const statuses = (responses: readonly Response[], status: number) =>
    responses.filter((response) => response.status === status).length
  const limited = (answer: Answer | Response) => answer.status === 429

  /** Calls that a replica counted locally because Redis did not respond in time. */
  const countLocal = async () => {
    const pages = await Promise.all(
      [drape.api, replica].map(async ({ probeUrl }) => (await fetch(`${probeUrl}/metrics`)).text()),
    )
    return pages.reduce((sum, page) => sum + Number(/^drape_rate_limit_local_total (\d+)$/m.exec(page)?.[1] ?? 0), 0)
  }
  /** Repeats the calls with a new account until Redis has counted all of them, because a loaded machine can delay Redis. */
  const countedByRedis = async <T>(settings: object, send: (apiKey: string) => Promise<T>) => {
    for (let round = 1; ; round++) {
      const { apiKey } = await drape.createAccount(0, settings)
      const before = await countLocal()
      const start = Date.now()
      const answers = await send(apiKey)
      const seconds = (Date.now() - start) / 1000
      if ((await countLocal()) === before || round === 10) return { apiKey, answers, seconds }
    }
  }

  it('allows a burst of the writes of a minute, across replicas', async () => {
    const { answers, seconds } = await countedByRedis({}, (apiKey) =>
      Promise.all(Array.from({ length: 160 }, (_, i) => write(apiKey, i % 2 === 0 ? drape.api.url : replica.url))),
    )
    const accepted = statuses(answers, 400)
    expect(accepted).toBeGreaterThanOrEqual(100)
    // One more for each 600 ms.
    expect(accepted).toBeLessThanOrEqual(101 + seconds / 0.6)
    expect(statuses(answers, 429)).toBe(160 - accepted)
    const refused = answers.filter(limited)[0]
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', status: 429, message: expect.any(String) })
    expect(refused.headers.get('ratelimit-remaining')).toBe('0')
    expect(Number(refused.headers.get('ratelimit-reset'))).toBeGreaterThan(50)
  })

  it('allows a request again after Retry-After, and does not count refused ones', async () => {
    const { apiKey, answers } = await countedByRedis({ writesPerMinute: 60 }, (key) =>
      Promise.all(Array.from({ length: 120 }, () => write(key))),
    )
    const refused = answers.filter(limited)
    expect(refused.length).toBeGreaterThan(10)
    const waits = refused.map(({ headers }) => Number(headers.get('retry-after')))
    expect(Math.min(...waits)).toBeLessThanOrEqual(3)
    // Concurrent requests are spread over the next seconds.
    expect(Math.max(...waits)).toBeGreaterThan(1)
    await new Promise((resolve) => setTimeout(resolve, 1100))
    expect((await write(apiKey)).status).toBe(400)
  })

  it('spreads callers over a random time after the time at which a request would be allowed', async () => {
    expect([0, 0.5, 0.99].map((share) => spreadSeconds(1, () => share))).toEqual([1, 2, 3])
    expect([0, 0.5, 0.99].map((share) => spreadSeconds(20, () => share))).toEqual([20, 30, 40])
    const { apiKey } = await drape.createAccount(0, { readsPerMinute: 1 })
    const waits = new Set<number>()
    for (let i = 0; i < 20; i++) waits.add(Number((await read(apiKey)).headers.get('retry-after')))
    expect(waits.size).toBeGreaterThan(5)
  })

  it('lets 200 callers poll every 2 s', async () => {
    const { apiKey } = await drape.createAccount(0, {})
    const cycle = () => Promise.all(Array.from({ length: 200 }, () => read(apiKey)))
    // Two cycles at once, as after a short interruption of the network.
    const answers = [...(await cycle()), ...(await cycle())]
    expect(statuses(answers, 200)).toBe(400)
  })

  it('limits reads and writes separately: a burst of reads with a spent write limit', async () => {
    const { answers, seconds } = await countedByRedis({ readsPerMinute: 600 }, async (apiKey) => ({
      writes: await Promise.all(Array.from({ length: 130 }, () => write(apiKey))),
      reads: await Promise.all(Array.from({ length: 160 }, () => read(apiKey))),
    }))
    expect(statuses(answers.writes, 429)).toBeGreaterThan(0)
    expect(statuses(answers.reads, 200)).toBeGreaterThanOrEqual(120)
    expect(statuses(answers.reads, 200)).toBeLessThanOrEqual(121 + seconds / 0.1)
  })

  it('returns limit and remaining requests with every response', async () => {
    const { apiKey } = await drape.createAccount(0, {})
    const answers = [await read(apiKey), await read(apiKey), await write(apiKey)]
    expect(answers.map(({ headers }) => headers.get('ratelimit-limit'))).toEqual(['6000', '6000', '100'])
    const remaining = answers.map(({ headers }) => headers.get('ratelimit-remaining'))
    // A read returns after 10 ms.
    expect(remaining).toEqual(['399', expect.stringMatching(/^39[89]$/), '99'])
    for (const { headers } of answers) expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(0)
  })

  it('prefers the limits of the account over the defaults', async () => {
    const { apiKey } = await drape.createAccount(0, { writesPerMinute: 3, readsPerMinute: 1000 })
    const writes = await Promise.all(Array.from({ length: 5 }, () => write(apiKey)))
    expect(statuses(writes, 400)).toBe(3)
    const reads = await Promise.all(Array.from({ length: 120 }, () => read(apiKey)))
    expect(statuses(reads, 200)).toBe(120)
    expect(reads[0].headers.get('ratelimit-limit')).toBe('1000')
  })

  it('counts every account separately, and nothing without a key', async () => {
    const [one, other] = [await drape.createAccount(0, { writesPerMinute: 1 }), await drape.createAccount(0, {})]
    await write(one.apiKey)
    expect((await write(one.apiKey)).status).toBe(429)
    expect((await write(other.apiKey)).status).toBe(400)
    const strangers = await Promise.all(Array.from({ length: 30 }, () => write('sk_nobody')))
    expect(statuses(strangers, 401)).toBe(30)
  })

  it('continues in each replica while Redis is unavailable', async () => {
    const { apiKey } = await drape.createAccount(0, { writesPerMinute: 5 })
    await redis.kill()
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => write(apiKey, i % 2 === 0 ? drape.api.url : replica.url)),
    )
    expect(statuses(answers, 400)).toBe(10)
    await redis.restart()
  })

  it('answers at once while Redis hangs, and counts that in a metric', async () => {
    const { apiKey } = await drape.createAccount(0, { writesPerMinute: 5 })
    process.kill(redis.pid, 'SIGSTOP')
    try {
      const answers = await Promise.all(Array.from({ length: 8 }, () => write(apiKey)))
      expect(statuses(answers, 400)).toBe(5)
    } finally {
      process.kill(redis.pid, 'SIGCONT')
    }
    const metrics = await (await fetch(`${drape.api.probeUrl}/metrics`)).text()
    expect(Number(/^drape_rate_limit_local_total (\d+)$/m.exec(metrics)?.[1])).toBeGreaterThan(0)
  })
})
