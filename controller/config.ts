import { Type } from '../api/shared/contract/schema.ts'
import { readConfig, SHARED_VARIABLES } from '../api/shared/process/config.ts'

const schema = Type.Object({
  DATABASE_URL: SHARED_VARIABLES.DATABASE_URL,
  DATABASE_DIRECT_URL: SHARED_VARIABLES.DATABASE_DIRECT_URL,
  REDIS_URL: SHARED_VARIABLES.REDIS_URL,
  STORAGE_URL: SHARED_VARIABLES.STORAGE_URL,
  PROBE_PORT: SHARED_VARIABLES.PROBE_PORT,
  PROBE_HOST: SHARED_VARIABLES.PROBE_HOST,
  LOG_LEVEL: SHARED_VARIABLES.LOG_LEVEL,
  /** The only namespace to watch; empty: all namespaces. */
  WATCH_NAMESPACE: Type.String({ default: '' }),
  /** Whether the controller may read nodes: failing accelerators and ending spot nodes. */
  WATCH_NODES: Type.Enum(['true', 'false'], { default: 'true' }),
  /** Namespace of the leader election Lease; empty: the namespace of the credentials. */
  LEASE_NAMESPACE: Type.String({ default: '' }),
  LEASE_NAME: Type.String({ minLength: 1, default: 'drape-controller' }),
  LEASE_SECONDS: Type.Integer({ minimum: 3, maximum: 300, default: 15 }),
  /** Seconds between sweeps of expired data. */
  SWEEP_SECONDS: Type.Integer({ minimum: 1, maximum: 86_400, default: 300 }),
  CONCURRENCY: Type.Integer({ minimum: 1, maximum: 64, default: 8 }),
})

export type ControllerConfig = ReturnType<typeof readControllerConfig>

/** Throws one Error that lists every configuration problem. */
export function readControllerConfig(env: Readonly<Record<string, string | undefined>>) {
  const config = readConfig(schema, env)
  return { ...config, DATABASE_DIRECT_URL: config.DATABASE_DIRECT_URL || config.DATABASE_URL }
}
