/** A field of the answer to INFO, such as `redis_version`; undefined when Redis does not report it. */
export function infoField(info: string, name: string): string | undefined {
  return new RegExp(`^${name}:(\\S+)`, 'm').exec(info)?.[1]
}

/** Reason why a Redis with this answer to INFO cannot hold queues; null when it can. */
export function serverProblem(info: string): string | null {
  if (infoField(info, 'redis_mode') === 'cluster')
    return 'REDIS_URL leads to a Redis Cluster, which may divide the keys of one queue among servers. Use one Redis, with replicas and Sentinels (redis+sentinel://) for failover.'
  const policy = infoField(info, 'maxmemory_policy') ?? 'noeviction'
  if (policy === 'noeviction') return null
  return `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), so it would lose jobs and rate limits. Set maxmemory-policy to noeviction.`
}
