/** Redis commands that read the eviction policy. */
export interface PolicyCommands {
  configGet(name: string): Promise<Record<string, string>>
  info(section: string): Promise<string>
}

/**
 * The `maxmemory-policy` of Redis. Falls back to INFO, because managed services forbid CONFIG. Null when neither
 * reports it.
 */
export async function readEvictionPolicy(client: PolicyCommands): Promise<string | null> {
  const configured = await client.configGet('maxmemory-policy').then(
    (answer) => answer['maxmemory-policy'],
    () => undefined,
  )
  if (configured) return configured
  const memory = await client.info('memory').catch(() => '')
  return /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? null
}

/** Reason why a Redis with this policy cannot hold queues; null when it can. */
export function evictionProblem(policy: string | null): string | null {
  if (policy === null || policy === 'noeviction') return null
  return `Redis evicts keys when its memory is full (maxmemory-policy ${policy}), so it would lose jobs and rate limits. Set maxmemory-policy to noeviction.`
}
