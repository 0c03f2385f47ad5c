import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evictionProblem, readEvictionPolicy } from '../../../../api/shared/retention/eviction.ts'
import { createTestDatabase } from '../../../support/postgres.ts'
import { startProgram } from '../../../support/process.ts'
import { type OwnRedis, startOwnRedis } from '../../../support/redis.ts'
import { requestService } from '../../../support/request-service.ts'

describe('the maxmemory-policy of Redis', () => {
  let redis: OwnRedis
  beforeAll(async () => {
    redis = await startOwnRedis()
    const client = await createClient({ url: redis.url }).connect()
    await client.configSet('maxmemory-policy', 'allkeys-lru')
    // As in managed services.
    await client.aclSetUser('managed', ['on', '>secret', '~*', '&*', '+@all', '-config'])
    await client.aclSetUser('silent', ['on', '>secret', '~*', '&*', '+@all', '-config', '-info'])
    client.destroy()
  })
  afterAll(() => redis.kill())

  const as = (user?: string) => {
    const url = new URL(redis.url)
    if (user !== undefined) Object.assign(url, { username: user, password: 'secret' })
    return url.href
  }

  it.each([
    [undefined, 'allkeys-lru'],
    ['managed', 'allkeys-lru'],
    ['silent', null],
  ])('is read as %s', async (user, policy) => {
    const client = await createClient({ url: as(user) }).connect()
    expect(await readEvictionPolicy(client)).toBe(policy)
    client.destroy()
  })

  it('is refused if it evicts', () => {
    expect([null, 'noeviction'].map(evictionProblem)).toEqual([null, null])
    for (const policy of ['allkeys-lru', 'volatile-ttl']) expect(evictionProblem(policy)).toContain(policy)
  })

  it('ends the start of a process if it evicts, with a solution', async () => {
    const [database, folder] = await Promise.all([createTestDatabase(), requestService('folder', null)])
    const env = { DATABASE_URL: database.url, REDIS_URL: as('managed'), STORAGE_URL: `file:${folder.path}` }
    await expect(startProgram('api', env, { separate: true })).rejects.toThrow(
      /ended with code 1[\s\S]*Set maxmemory-policy to noeviction/,
    )
    await database.drop()
  })
})
