import { createBacklog } from '../../../api/generations/backlog.store.ts'
import type { Database } from '../../../api/shared/database/database.ts'
import { createPoolRegistry } from '../../../api/shared/engines/pool-registry.ts'
import { createRedis, type Redis } from '../../../api/shared/queue/redis.ts'
import { infoField } from '../../../api/shared/queue/redis-problem.ts'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { redisUrl } from '../checks/environment.ts'
import { becomesReady } from '../checks/workers.ts'
import { examine, type Finding, ok, problem, skipped } from './finding.ts'

/** Min version for BullMQ. */
const OLDEST = [6, 2] as const

/** Examines version and maxmemory-policy of Redis, and the consumers of the queue. */
export async function examineRedis(openDatabase: () => Database): Promise<readonly Finding[]> {
  return examine('redis', 'Check REDIS_URL, and that Redis runs and accepts the password.', async () => {
    // The role subscriber does not exit if Redis evicts keys; the other roles do.
    const redis = createRedis(redisUrl(), {
      role: 'subscriber',
      log: createLog({ process: 'doctor', level: 'silent' }),
    })
    try {
      await becomesReady(redis)
      const info = await redis.client.info()
      return [
        ...[examineVersion(info), examinePolicy(info), await examineUser(redis)],
        ...(await examineQueue(redis, openDatabase)),
        ...(await examinePoolWorkers(redis)),
      ]
    } finally {
      await redis.close()
    }
  })
}

function examineVersion(info: string): Finding {
  const found = infoField(info, 'redis_version') ?? 'unknown version'
  if (infoField(info, 'redis_mode') === 'cluster')
    return problem('redis', `${found}, a Cluster`, 'Use one Redis, with replicas and Sentinels for failover.')
  const [major = 0, minor = 0] = found.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return ok('redis', found)
  return problem('redis', found, `Upgrade Redis to ${OLDEST.join('.')} or newer, or use Valkey.`)
}

function examinePolicy(info: string): Finding {
  const check = 'redis maxmemory-policy'
  const policy = infoField(info, 'maxmemory_policy')
  if (policy === undefined) return skipped(check, 'Redis does not report it; it must be noeviction')
  if (policy === 'noeviction') return ok(check, policy)
  return problem(
    check,
    `${policy}: a full Redis would lose jobs`,
    'Set maxmemory-policy noeviction in redis.conf or in the parameters of the managed service.',
  )
}

/** With `default`, each process may do everything, and a worker may write the reports of others. */
async function examineUser({ client }: Redis): Promise<Finding> {
  const user = await client.aclWhoAmI().catch(() => null)
  if (user === null || user === 'default') return skipped('redis user', 'the process has no user of its own')
  return ok('redis user', user)
}

/** A missing worker is a problem only if jobs wait for its engines: a pool may have scaled to zero. */
async function examineQueue(redis: Redis, openDatabase: () => Database): Promise<readonly Finding[]> {
  return examine('queue', 'Check DATABASE_URL: the backlog is in Postgres.', async () => {
    const [workers, unfinished] = await Promise.all([
      redis.findWorkers('try-on'),
      createBacklog(openDatabase()).findUnfinished(),
    ])
    const waiting = unfinished.filter(({ state }) => state !== 'running')
    const abandoned = waiting.filter(({ engine }) => !workers.some(({ engines }) => engines.includes(engine)))
    const cure = 'Start a worker with the engine, or see why none starts: its log, or kubectl describe wp.'
    const sum = (list: typeof unfinished) => list.reduce((total, { count }) => total + count, 0)
    return [
      ok('queue', `${workers.length} workers, ${sum(waiting)} try-ons wait, ${sum(unfinished) - sum(waiting)} run`),
      ...abandoned.map(({ engine, count, seconds }) =>
        problem(`queue ${engine}`, `${count} try-ons wait for ${Math.round(seconds)} s, without a worker`, cure),
      ),
    ]
  })
}

/** The workers of pools, by their own reports; none outside of pools. */
async function examinePoolWorkers(redis: Redis): Promise<readonly Finding[]> {
  return examine('workers', 'Check that Redis accepts Lua scripts.', async () => {
    const workers = [...(await createPoolRegistry(redis).findWorkers()).values()]
    const kinds = Map.groupBy(workers, ({ provider, engines }) => [provider, ...engines.toSorted()].join(' '))
    const cure =
      'The controller replaces the worker, or holds it while it avoids the node: see kubectl describe wp, and the logs of the device driver of the node.'
    return [
      ...[...kinds].map(([kind, found]) => {
        const healthy = found.filter(({ sick }) => sick === undefined).length
        return ok(`workers ${kind}`, `${healthy} of ${found.length} healthy`)
      }),
      ...workers.flatMap(({ host, sick }) =>
        sick ? [problem(`worker ${host}`, `takes no jobs: ${sick.reason}: ${sick.message}`, cure)] : [],
      ),
    ]
  })
}
