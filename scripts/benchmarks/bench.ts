import { chmod, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createDatabase, type Database, migrate } from '../../api/shared/database.ts'
import { createAccounts } from '../../api/stores/accounts.ts'
import { createPorts } from '../stack/ports.ts'
import { startReaper } from '../stack/reaper.ts'
import { startPostgres, startRedis } from '../stack/services.ts'
import { createSupervisor } from '../stack/supervisor.ts'
import { pinned } from './pinning.ts'

/** What benchmarks are run with: a database, a Redis and an account of their own. */
export interface Bench {
  readonly database: Database
  /** Of the server's database, for statistics. */
  readonly databaseUrl: string
  readonly accountId: string
  readonly apiKey: string
  /** Where each part of the stack writes its log. */
  readonly logFolder: string
  /** The addresses of an API and of the bare programs, started at the first call; both on one processor, in turn. */
  servers(): Promise<{ api: string; anchor: string }>
  stop(): Promise<void>
}

export const LIMITS = { writesPerMinute: 100_000_000, readsPerMinute: 100_000_000 }

export async function startBench({ root, say }: { root: string; say: (text: string) => void }): Promise<Bench> {
  const undo = new AsyncDisposableStack()
  try {
    const folder = await mkdtemp(join(tmpdir(), 'drape-bench-'))
    // Under root the database belongs to another user, who has to get in.
    await chmod(folder, 0o755)
    const reaper = await startReaper({})
    reaper.remove(folder)
    undo.defer(() => reaper.close())
    const supervisor = createSupervisor({ reaper, logFolder: folder, say })
    undo.defer(() => supervisor.stop())
    const ports = createPorts()
    undo.defer(() => ports.giveBack())
    // Not durable: what is measured is our own work, not the disk.
    const services = {
      supervisor,
      ports,
      dataFolder: folder,
      durable: false,
      say,
      signal: new AbortController().signal,
    }
    const [databaseUrl, redisUrl] = await Promise.all([startPostgres(services), startRedis(services)])
    await migrate(databaseUrl)
    const database = createDatabase(databaseUrl, { poolSize: 2 })
    undo.defer(() => database.end())
    const account = await createAccounts(database).insert({
      name: 'Bench',
      email: null,
      credits: 1_000_000_000,
      settings: LIMITS,
    })

    const start = async (name: string, main: string): Promise<string> => {
      const [port, probePort] = [await ports.takeFree(), await ports.takeFree()]
      await Promise.all([port.release(), probePort.release()])
      const url = `http://127.0.0.1:${port.port}`
      await supervisor.start({
        name,
        ...pinned(process.execPath, [main]),
        cwd: root,
        env: {
          ...process.env,
          NODE_ENV: 'production',
          DATABASE_URL: databaseUrl,
          REDIS_URL: redisUrl,
          STORAGE_URL: `file:${join(folder, 'objects')}`,
          SIGNING_SECRET: 'a secret of the benchmarks',
          PUBLIC_URL: url,
          PORT: String(port.port),
          PROBE_PORT: String(probePort.port),
        },
        signal: 'SIGTERM',
        graceSeconds: 20,
        stage: 1,
      })
      await untilReady(`http://127.0.0.1:${probePort.port}/readyz`)
      return url
    }
    const startServers = async () => ({
      api: await start('api', 'api/main.ts'),
      anchor: await start('anchor', 'scripts/benchmarks/anchor-server.ts'),
    })
    let servers: Promise<{ api: string; anchor: string }> | undefined
    return {
      database,
      databaseUrl,
      accountId: account.id,
      apiKey: account.apiKey,
      logFolder: folder,
      servers: () => {
        servers ??= startServers()
        return servers
      },
      stop: () => undo.disposeAsync(),
    }
  } catch (error) {
    await undo.disposeAsync()
    throw error
  }
}

async function untilReady(url: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    const isReady = await fetch(url).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
    await sleep(50)
  }
  throw new Error(`${url} does not answer`)
}
