import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { createPorts } from '../../../scripts/stack/ports.ts'
import { waitForPostgres } from '../../../scripts/stack/postgres.ts'
import { startReaper } from '../../../scripts/stack/reaper.ts'
import { startPostgres } from '../../../scripts/stack/services.ts'
import { createSupervisor, type Supervisor } from '../../../scripts/stack/supervisor.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

describe('the bundled PostgreSQL', () => {
  const undo: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  it('keeps its data across restarts', async () => {
    const dataFolder = await createFolder()
    const first = await start(dataFolder)
    await query(first.url, 'create table notes as select 7 as number')
    await first.supervisor.stop()
    const second = await start(dataFolder)
    expect(await query(second.url, 'select number from notes')).toEqual([{ number: 7 }])
  })

  it('restarts after a kill', async () => {
    const { url, supervisor } = await start(await createFolder())
    supervisor.steady()
    const killed = supervisor.pid('postgres')
    process.kill(killed, 'SIGKILL')
    await until(() => ![0, killed].includes(supervisor.pid('postgres')))
    await until(() => query(url, 'select 1 as one').catch(() => false))
  })

  it('starts when its pid file names another process', async () => {
    const dataFolder = await createFolder()
    const { supervisor } = await start(dataFolder)
    const pidFile = join(dataFolder, 'postgres/postmaster.pid')
    const text = await readFile(pidFile, 'utf8')
    await supervisor.stop()
    await writeFile(pidFile, text.replace(/^\d+/, String(process.pid)))
    expect(await query((await start(dataFolder)).url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  it('is waited for when it responds slowly, as on a busy machine', async () => {
    const url = new URL((await start(await createFolder())).url)
    const port = Number(url.port)
    const server = createServer((slow) => {
      const fast = connect(port, url.hostname)
      // A client that is tired of waiting resets its connection.
      for (const socket of [slow, fast]) socket.on('error', () => socket.destroy())
      setTimeout(() => slow.pipe(fast).pipe(slow), 3000)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    undo.push(async () => void server.close())
    url.port = String((server.address() as AddressInfo).port)
    await waitForPostgres(url.href, AbortSignal.timeout(60_000))
  })

  it('rejects a wrong password', async () => {
    const url = new URL((await start(await createFolder())).url)
    url.password = 'guessed'
    await expect(query(url.href, 'select 1')).rejects.toThrow('password authentication failed')
  })

  it('reports a data folder of an unavailable PostgreSQL version', async () => {
    const dataFolder = await createFolder()
    await mkdir(join(dataFolder, 'postgres'))
    await writeFile(join(dataFolder, 'postgres/PG_VERSION'), '9\n')
    await expect(start(dataFolder)).rejects.toThrow('was created by PostgreSQL 9, but only')
  })

  it.runIf(process.getuid?.() === 0)('runs for root in a folder that other users cannot enter', async () => {
    const closed = await createFolder()
    await chmod(closed, 0o700)
    const dataFolder = join(closed, 'with a space')
    await mkdir(dataFolder)
    expect(await query((await start(dataFolder)).url, 'select 1 as one')).toEqual([{ one: 1 }])
  })

  async function start(dataFolder: string): Promise<{ url: string; supervisor: Supervisor }> {
    const reaper = await startReaper({})
    undo.push(() => reaper.close())
    const supervisor = createSupervisor({ reaper, logFolder: dataFolder, say: () => {} })
    undo.push(() => supervisor.stop())
    const signal = AbortSignal.timeout(60_000)
    const url = await startPostgres({
      supervisor,
      ports: createPorts(),
      dataFolder,
      durable: false,
      say: () => {},
      signal,
    })
    return { url, supervisor }
  }
})

async function createFolder(): Promise<string> {
  return (await requestService('folder', null)).path
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  try {
    await client.connect()
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}
