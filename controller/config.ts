import { readConfig, SHARED_VARIABLES } from '../api/shared/config.ts'
import { Type } from '../api/shared/schema.ts'
import { RECONCILE_HOURS } from '../api/shared/storage-reconciling.ts'

const schema = Type.Object({
  DATABASE_URL: SHARED_VARIABLES.DATABASE_URL,
  REDIS_URL: SHARED_VARIABLES.REDIS_URL,
  STORAGE_URL: SHARED_VARIABLES.STORAGE_URL,
  PROBE_PORT: SHARED_VARIABLES.PROBE_PORT,
  PROBE_HOST: SHARED_VARIABLES.PROBE_HOST,
  LOG_LEVEL: SHARED_VARIABLES.LOG_LEVEL,
  /** The one namespace that it looks after; all when empty. */
  WATCH_NAMESPACE: Type.String({ default: '' }),
  /** Whether it may see nodes, on which files of engines are prefetched. */
  WATCH_NODES: Type.Enum(['true', 'false'], { default: 'true' }),
  /** Where the Lease is by which one of several controllers is chosen; that of the credentials when empty. */
  LEASE_NAMESPACE: Type.String({ default: '' }),
  LEASE_NAME: Type.String({ minLength: 1, default: 'drape-controller' }),
  LEASE_SECONDS: Type.Integer({ minimum: 3, maximum: 300, default: 15 }),
  /** What is past its own date is deleted so often. */
  SWEEP_SECONDS: Type.Integer({ minimum: 1, maximum: 86_400, default: 300 }),
  RECONCILE_HOURS,
  CONCURRENCY: Type.Integer({ minimum: 1, maximum: 64, default: 8 }),
})

/** Throws one Error that lists every problem of the environment. */
export function readControllerConfig(env: Readonly<Record<string, string | undefined>>) {
  return readConfig(schema, env)
}
