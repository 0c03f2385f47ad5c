import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { run } from './commands.ts'
import { emptyTemporaryFolder, readStackKey, takeDataFolder } from './data-folder.ts'
import { readImageVariables } from './image-variables.ts'
import { createPorts, type Ports } from './ports.ts'
import { chooseProcessUrls, type ProcessUrls, roleVariables } from './process-urls.ts'
import { type Program, type Replica, reserveReplicas, startReplica, waitUntilReady } from './programs.ts'
import { startPostgres, startRedis } from './services.ts'
import { readSettings, type Settings } from './settings.ts'
import { createSupervisor, type Supervisor } from './supervisor.ts'

/** URLs of a running stack. */
export interface StackReport {
  readonly ready: true
  readonly url: string
  /** Probe URLs of the first replicas; null if there is none. */
  readonly probeUrls: { readonly api: string; readonly worker: string | null }
  /** Null without a dashboard. */
  readonly dashboardUrl: string | null
  readonly databaseUrl: string
  readonly redisUrl: string
  readonly storageUrl: string
  readonly pids: { readonly api: readonly number[]; readonly worker: readonly number[] }
}

export interface Stack {
  readonly report: StackReport
  /** The variables that commands need to use this stack. */
  readonly env: NodeJS.ProcessEnv
  readonly dataFolder: string
  stop(): Promise<void>
}

export interface StackOptions {
  readonly root: string
  readonly env: NodeJS.ProcessEnv
  /** Starts the operators' dashboard even if the environment contains no port for it. */
  readonly dashboard: boolean
  readonly say: (text: string) => void
  /** Aborts the start. */
  readonly signal: AbortSignal
}

/**
 * Starts all parts of Drape on this machine and resolves when all are ready. Throws if a part fails to start, and stops all
 * parts in that case.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const settings = readSettings(options.env, options.root)
  const undo = new AsyncDisposableStack()
  try {
    const folder = await takeDataFolder(settings.dataFolder, options.say)
    undo.defer(() => folder.release())
    const ports = createPorts()
    undo.defer(() => ports.giveBack())
    const supervisor = createSupervisor({ reaper: folder.reaper, logFolder: folder.logFolder, say: options.say })
    undo.defer(() => supervisor.stop())
    const { report, env } = await startParts({ ...options, settings, ports, supervisor })
    supervisor.steady()
    return { report, env, dataFolder: settings.dataFolder, stop: () => undo.disposeAsync() }
  } catch (error) {
    await undo.disposeAsync()
    throw error
  }
}

type PartsOptions = StackOptions & {
  readonly settings: Settings
  readonly ports: Ports
  readonly supervisor: Supervisor
}

/** Aborts as soon as a part fails or the user interrupts. */
async function startParts(options: PartsOptions): Promise<Pick<Stack, 'report' | 'env'>> {
  const givingUp = new AbortController()
  const signal = AbortSignal.any([options.signal, givingUp.signal])
  const interrupted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  try {
    return await Promise.race([startInOrder({ ...options, signal }), options.supervisor.broken, interrupted])
  } finally {
    interrupted.catch(() => {})
    givingUp.abort()
  }
}

async function startInOrder(options: PartsOptions): Promise<Pick<Stack, 'report' | 'env'>> {
  const { root, settings, ports, supervisor, say, signal } = options
  const api = await reserveReplicas(apiProgram(settings, options.dashboard), ports)
  const worker = await reserveReplicas(workerProgram(settings), ports)
  const retention = await reserveReplicas(retentionProgram(settings), ports)
  const env = await startServices(options)
  say('Applying migrations …')
  const urls = chooseProcessUrls(options.env, env.DATABASE_URL)
  const migration = { ...env, ...roleVariables(urls, env.DATABASE_URL) }
  await run(process.execPath, ['scripts/drape.ts', 'migrate', '--create-roles'], { cwd: root, env: migration })
  signal.throwIfAborted()

  say('Starting the API and the worker …')
  const url = `http://127.0.0.1:${api[0].ports.PORT.port}`
  const publicUrl = env.PUBLIC_URL || url
  const programEnv = {
    ...readImageVariables('api'),
    ...env,
    PUBLIC_URL: publicUrl,
    SHARE_URL: env.SHARE_URL || publicUrl,
    TMPDIR: await emptyTemporaryFolder(settings.dataFolder),
  }
  const replicas = [...api, ...worker, ...retention]
  const envOf = ({ program }: Replica) => environmentOf(program, { env: programEnv, urls })
  await Promise.all(replicas.map((replica) => startReplica(replica, { root, env: envOf(replica), supervisor })))
  await Promise.all(replicas.map((replica) => waitUntilReady(replica, { say, signal })))
  const report: StackReport = {
    ready: true,
    url,
    probeUrls: { api: probeUrl(api[0]), worker: worker.length > 0 ? probeUrl(worker[0]) : null },
    dashboardUrl: api[0].ports.DASHBOARD_PORT ? `http://127.0.0.1:${api[0].ports.DASHBOARD_PORT.port}` : null,
    databaseUrl: env.DATABASE_URL,
    redisUrl: env.REDIS_URL,
    storageUrl: env.STORAGE_URL,
    pids: { api: api.map(({ name }) => supervisor.pid(name)), worker: worker.map(({ name }) => supervisor.pid(name)) },
  }
  return { report, env: programEnv }
}

/** A program has the database role of its process, and only the keys that it uses. */
function environmentOf(
  { name }: Program,
  { env, urls }: { env: NodeJS.ProcessEnv; urls: ProcessUrls },
): NodeJS.ProcessEnv {
  if (name === 'api') return { ...env, DATABASE_URL: urls.api }
  const { SECRETS_KEY: _, SIGNING_SECRET: __, ...others } = env
  if (name !== 'worker') return { ...others, DATABASE_URL: urls.controller }
  const { DATABASE_URL: ___, DATABASE_DIRECT_URL: ____, ...ours } = others
  return ours
}

type ServiceEnvironment = NodeJS.ProcessEnv & { DATABASE_URL: string; REDIS_URL: string; STORAGE_URL: string }

const EXTERNAL = [
  ['DATABASE_URL', 'PostgreSQL'],
  ['REDIS_URL', 'Redis'],
] as const

async function startServices(options: PartsOptions): Promise<ServiceEnvironment> {
  const { env, settings, ports, supervisor, say, signal } = options
  const { dataFolder, postgresPort, redisPort } = settings
  for (const [variable, service] of EXTERNAL) if (env[variable]) say(`${variable} is set, so no ${service} is started.`)
  const hasSecretsKey = env.SECRETS_KEY || env.SECRETS_KEY_FILE
  const [databaseUrl, redisUrl, signingSecret, secretsKey] = await Promise.all([
    env.DATABASE_URL || startPostgres({ supervisor, ports, dataFolder, port: postgresPort, say, signal }),
    env.REDIS_URL || startRedis({ supervisor, ports, dataFolder, port: redisPort, say, signal }),
    env.SIGNING_SECRET || readStackKey(dataFolder, 'signing-secret'),
    hasSecretsKey ? env.SECRETS_KEY : readStackKey(dataFolder, 'secrets-key'),
  ])
  return {
    ...env,
    NODE_ENV: env.NODE_ENV || 'development',
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    STORAGE_URL: env.STORAGE_URL || pathToFileURL(join(dataFolder, 'objects')).href,
    SIGNING_SECRET: signingSecret,
    SECRETS_KEY: secretsKey,
  }
}

function apiProgram(
  { apiReplicas, port, probePort, dashboardPort, graceSeconds }: Settings,
  hasDashboard: boolean,
): Program {
  const dashboard = { given: dashboardPort, preferred: dashboardPort ?? 8081 }
  return {
    name: 'api',
    main: 'api/main.ts',
    replicas: apiReplicas,
    ports: {
      PORT: { given: port, preferred: 8080 },
      PROBE_PORT: { given: probePort, preferred: 9090 },
      ...((hasDashboard || dashboardPort !== undefined) && { DASHBOARD_PORT: dashboard }),
    },
    graceSeconds,
  }
}

function workerProgram({ workerReplicas, workerProbePort, graceSeconds }: Settings): Program {
  return {
    name: 'worker',
    main: 'worker/main.ts',
    replicas: workerReplicas,
    ports: { PROBE_PORT: { given: workerProbePort, preferred: 9190 } },
    graceSeconds,
  }
}

/** Runs the retention policies of a file, as the controller does in a cluster. */
function retentionProgram({ retentionFile, graceSeconds }: Settings): Program {
  return {
    name: 'retention',
    main: 'controller/local.ts',
    replicas: retentionFile === undefined ? 0 : 1,
    ports: { PROBE_PORT: { given: undefined, preferred: 9290 } },
    graceSeconds,
  }
}

function probeUrl({ ports }: Replica): string {
  return `http://127.0.0.1:${ports.PROBE_PORT.port}`
}
