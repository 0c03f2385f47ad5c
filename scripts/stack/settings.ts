import { join, resolve } from 'node:path'

/** Settings of the local stack from the environment. Ports that are not given are allocated. */
export interface Settings {
  readonly dataFolder: string
  readonly port: number | undefined
  readonly probePort: number | undefined
  /** No dashboard if undefined. */
  readonly dashboardPort: number | undefined
  readonly workerProbePort: number | undefined
  readonly postgresPort: number | undefined
  readonly redisPort: number | undefined
  readonly apiReplicas: number
  readonly workerReplicas: number
  /** The retention policies of the stack; none when undefined. */
  readonly retentionFile: string | undefined
  /** Seconds for the API and the worker to exit: slightly longer than their own limits. */
  readonly graceSeconds: number
}

/** Reads the settings; paths are relative to the working directory of the caller. Throws on an invalid value. */
export function readSettings(env: NodeJS.ProcessEnv, root: string): Settings {
  const count = (name: string, fallback: number) => readInteger(env, name, 3600) ?? fallback
  const port = (name: string) => readInteger(env, name, 65535)
  return {
    dataFolder: env.DATA_DIR ? resolve(env.DATA_DIR) : join(root, '.data'),
    port: port('PORT'),
    probePort: port('PROBE_PORT'),
    dashboardPort: port('DASHBOARD_PORT'),
    workerProbePort: port('WORKER_PROBE_PORT'),
    postgresPort: port('POSTGRES_PORT'),
    redisPort: port('REDIS_PORT'),
    apiReplicas: Math.max(count('API_REPLICAS', 1), 1),
    workerReplicas: count('WORKER_REPLICAS', 1),
    retentionFile: env.RETENTION_FILE ? resolve(env.RETENTION_FILE) : undefined,
    graceSeconds: count('DRAIN_SECONDS', 60) + 15,
  }
}

function readInteger(env: NodeJS.ProcessEnv, name: string, maximum: number): number | undefined {
  const text = env[name]
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > maximum)
    throw new Error(`${name} must be a whole number up to ${maximum}, not "${text}"`)
  return value
}
