import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, type Drape, startDrape } from '../../support/drape.ts'
import { startProgram, type TestProgram } from '../../support/process.ts'
import { type OwnRedis, startOwnRedis } from '../../support/redis.ts'

describe('the rate limit', () => {
  let redis: OwnRedis
  let drape: Drape
  let replica: TestProgram

  beforeAll(async () => {
    redis = await startOwnRedis()
    drape = await startDrape({ env: { REDIS_URL: redis.url } })
    replica = await startProgram('api', drape.env)
  })
  afterAll(async () => {
    await replica.end()
    await drape.stop()
    await redis.kill()
  })

  const read = (key: string, api = drape.api.url): Promise<Response> =>
    fetch(`${api}/tryon/v1/account/credits`, { headers: { 'x-api-key': key } })
  // A body that is refused as invalid: it counts all the same, and nothing else happens.
  const write = (key: string, api = drape.api.url): Promise<Response> =>
    fetch(`${api}/tryon/v1/try-on`, {
      method: 'POST',
      headers: { 'x-api-key': key, 'content-type': 'application/json' },
      body: '{}',
    })
  const statuses = (responses: readonly Response[], status: number) =>
    responses.filter((response) => response.status === status).length
  const limited = (answer: Answer | Response) => answer.status === 429

  it('lets 20 writes through at once, whichever replica they come to', async () => {
    const { apiKey } = await drape.createAccount(0, {})
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) => write(apiKey, i % 2 === 0 ? drape.api.url : replica.url)),
    )
    expect(statuses(answers, 400)).toBe(20)
    expect(statuses(answers, 429)).toBe(40)
    const refused = answers.filter(limited)[0]
    expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED', status: 429, message: expect.any(String) })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(12)
  })

  it('keeps reading apart from writing: 120 reads at once beside a spent budget of writes', async () => {
    const { apiKey } = await drape.createAccount(0, {})
    await Promise.all(Array.from({ length: 21 }, () => write(apiKey)))
    expect((await write(apiKey)).status).toBe(429)
    const reads = await Promise.all(Array.from({ length: 130 }, () => read(apiKey)))
    expect(statuses(reads, 200)).toBe(120)
    expect(statuses(reads, 429)).toBe(10)
  })

  it('says on every answer what the budget is and what is left of it', async () => {
    const { apiKey } = await drape.createAccount(0, {})
    const answers = [await read(apiKey), await read(apiKey), await write(apiKey)]
    expect(answers.map(({ headers }) => headers.get('ratelimit-limit'))).toEqual(['600', '600', '100'])
    expect(answers.map(({ headers }) => headers.get('ratelimit-remaining'))).toEqual(['119', '118', '19'])
    for (const { headers } of answers) expect(Number(headers.get('ratelimit-reset'))).toBeGreaterThan(0)
  })

  it('takes an account’s own settings over the general ones', async () => {
    const { apiKey } = await drape.createAccount(0, { writesPerMinute: 3, readsPerMinute: 1000 })
    const writes = await Promise.all(Array.from({ length: 5 }, () => write(apiKey)))
    expect(statuses(writes, 400)).toBe(3)
    const reads = await Promise.all(Array.from({ length: 201 }, () => read(apiKey)))
    expect(statuses(reads, 200)).toBe(200)
    expect(reads[0].headers.get('ratelimit-limit')).toBe('1000')
  })

  it('counts every account for itself, and nothing without a key', async () => {
    const [one, other] = [await drape.createAccount(0, { writesPerMinute: 1 }), await drape.createAccount(0, {})]
    await write(one.apiKey)
    expect((await write(one.apiKey)).status).toBe(429)
    expect((await write(other.apiKey)).status).toBe(400)
    const strangers = await Promise.all(Array.from({ length: 30 }, () => write('sk_nobody')))
    expect(statuses(strangers, 401)).toBe(30)
  })

  it('goes on in each replica while Redis is away', async () => {
    const { apiKey } = await drape.createAccount(0, { writesPerMinute: 5 })
    await redis.kill()
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, i) => write(apiKey, i % 2 === 0 ? drape.api.url : replica.url)),
    )
    expect(statuses(answers, 400)).toBe(10)
    await redis.restart()
  })

  it('answers at once while Redis hangs', async () => {
    const { apiKey } = await drape.createAccount(0, { writesPerMinute: 5 })
    process.kill(redis.pid, 'SIGSTOP')
    try {
      const answers = await Promise.all(Array.from({ length: 8 }, () => write(apiKey)))
      expect(statuses(answers, 400)).toBe(5)
    } finally {
      process.kill(redis.pid, 'SIGCONT')
    }
  })
})
