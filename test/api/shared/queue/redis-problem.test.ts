import { createClient } from 'redis'
import { afterAll, describe, expect, it } from 'vitest'
import { serverProblem } from '../../../../api/shared/queue/redis-problem.ts'
import { createTestDatabase } from '../../../support/postgres.ts'
import { startProgram } from '../../../support/process.ts'
import { startOwnRedis } from '../../../support/redis.ts'
import { requestService } from '../../../support/request-service.ts'

describe('the maxmemory-policy of Redis', async () => {
  const redis = await startOwnRedis()
  const client = await createClient({ url: redis.url }).connect()
  await client.configSet('maxmemory-policy', 'allkeys-lru')
  // As in managed services.
  await client.aclSetUser('managed', ['on', '>secret', '~*', '&*', '+@all', '-config'])
  client.destroy()
  afterAll(() => redis.kill())

  const as = (username: string) => Object.assign(new URL(redis.url), { username, password: 'secret' }).href

  it('is that of INFO, and refused if it evicts', async () => {
    const client = await createClient({ url: as('managed') }).connect()
    expect(serverProblem(await client.info())).toContain('(maxmemory-policy allkeys-lru)')
    client.destroy()
    expect(['maxmemory_policy:noeviction', ''].map(serverProblem)).toEqual([null, null])
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
