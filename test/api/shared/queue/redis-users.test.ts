import { createClient } from 'redis'
import { beforeAll, describe, expect, it } from 'vitest'
import { asProcess } from '../../../support/process-roles.ts'
import { createTestRedis } from '../../../support/redis.ts'

type Role = 'api' | 'worker' | 'controller'

describe('the Redis users of the chart', () => {
  let url: string
  beforeAll(async () => {
    url = await createTestRedis()
  })

  const send = async (role: Role, ...command: string[]) => {
    const client = await createClient({ url: asProcess(url, role) }).connect()
    return client
      .sendCommand(command)
      .then(String)
      .finally(() => client.destroy())
  }

  it.each<[Role, string]>([
    ['worker', 'get drape:pool-worker:other'],
    ['worker', 'zrange drape:pool-workers 0 -1'],
    ['worker', 'xrange drape:pool-changes - +'],
    ['worker', 'lrange drape:worker-calls 0 -1'],
    ['worker', 'zremrangebyscore drape:pool-workers 0 1'],
    ['worker', 'set drape:pool-word:other 1'],
    ['worker', 'set drape:pool-job-limit:other 1'],
    ['worker', 'hgetall drape:engines'],
    ['worker', 'get drape:rate:logins:1'],
    ['worker', 'del drape:bucket:writes:1'],
    ['worker', 'lrange drape:refused:1 0 -1'],
    ['worker', 'smembers drape:try-on-queues'],
    ['worker', 'subscribe drape:generation:1'],
    ['worker', 'publish other 1'],
    ['worker', 'scan 0'],
    ['worker', 'keys *'],
    ['worker', 'eval return(redis.call("GET","drape:pool-worker:other")) 0'],
    ['api', 'set drape:pool-word:other 1'],
    ['api', 'set drape:pool-worker:other 1'],
    ['controller', 'set drape:pool-worker:other 1'],
    ['controller', 'lpush bull:prepare:wait 1'],
    ['controller', 'get drape:rate:logins:1'],
    ...(['api', 'worker', 'controller'] as const).flatMap((role): [Role, string][] => [
      [role, 'flushall'],
      [role, 'config set maxmemory-policy allkeys-lru'],
      [role, 'acl setuser other on'],
      [role, 'set other 1'],
    ]),
  ])('as %s may not: %s', async (role, command) => {
    await expect(send(role, ...command.split(' '))).rejects.toThrow(/NOPERM|can't (access|run)/)
  })

  it('as worker may write its report and read its order (control)', async () => {
    expect(await send('worker', 'set', 'drape:pool-worker:me/uid', '{}')).toBe('OK')
    expect(await send('worker', 'zadd', 'drape:pool-workers', '1', 'me/uid')).toBe('1')
    expect(await send('worker', 'get', 'drape:pool-word:me')).toBe('null')
  })
})
