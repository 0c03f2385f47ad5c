import { chown, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { openSession } from '../../api/shared/database/session.ts'
import { run } from '../../scripts/stack/commands.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { preparePostgres } from '../../scripts/stack/postgres.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { type Drape, formOf, readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { reasonWithout } from '../support/missing.ts'
import { startOwnPostgres } from '../support/postgres.ts'
import { spawnProcess } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

const TRY_ONS = 40
const reason = await reasonWithout('haproxy')

describe.skipIf(reason)(`a streaming standby that is promoted under load${reason && ` (skipped: ${reason})`}`, () => {
  const undo: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  /** Runs a statement on exactly this server, also in recovery. */
  const runOn = async (url: string, statement: string) => {
    const client = new pg.Client({ connectionString: url })
    // A server that ends between two steps; the next one throws.
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  }

  /** Whether this server accepts writes, as the managers of clusters (Patroni, pg_auto_failover) report it to proxies. */
  const isPrimary = async (url: string) => {
    const facts = "select pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as refuses"
    return (await runOn(url, facts).catch(() => null))?.[0]?.refuses === false
  }

  /** HAProxy before both servers, which leads to the one that accepts writes. Returns the URL through it. */
  async function startProxy(urls: readonly string[]): Promise<string> {
    const checks = await Promise.all(
      urls.map(async (url) => {
        const server = createServer(async (_, response) => response.writeHead((await isPrimary(url)) ? 200 : 503).end())
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
        undo.push(async () => server.close())
        const { port } = server.address() as AddressInfo
        return `server postgres-${port} 127.0.0.1:${new URL(url).port} check port ${port}`
      }),
    )
    const { path: folder } = await requestService('folder', null)
    const { port, release } = await reserveFreePort()
    const file = join(folder, 'haproxy.cfg')
    await writeFile(
      file,
      `defaults
  mode tcp
  timeout connect 2s
  timeout client 1h
  timeout server 1h
listen postgres
  bind 127.0.0.1:${port}
  option httpchk
  default-server inter 500ms fall 2 rise 1 on-marked-down shutdown-sessions
  ${checks.join('\n  ')}
`,
    )
    await release()
    const process = await spawnProcess({
      command: REQUIREMENTS.haproxy.find() ?? 'haproxy',
      args: ['-db', '-f', file],
      cwd: '/',
      env: {},
    })
    undo.push(() => process.end('SIGKILL'))
    const through = new URL(urls[0])
    through.host = `127.0.0.1:${port}`
    // Before its first checks, it leads to both in turn.
    await until(async () => (await Promise.all([1, 2, 3, 4].map(() => isPrimary(through.href)))).every(Boolean))
    return through.href
  }

  /** A primary with a synchronous standby, and the URL that leads to the one that accepts writes. */
  async function startPair(by: string) {
    const [folder, copy] = [(await requestService('folder', null)).path, (await requestService('folder', null)).path]
    const primary = await startOwnPostgres({ folder })
    undo.push(() => primary.crash())
    const standby = await startStandby(primary.url, { folder, copy })
    undo.push(() => standby.process.end('SIGQUIT'))
    await runOn(primary.url, "alter system set synchronous_standby_names = '*'")
    await runOn(primary.url, 'select pg_reload_conf()')
    const isSynchronous = async () => (await runOn(primary.url, 'select sync_state from pg_stat_replication'))[0]
    await until(async () => (await isSynchronous())?.sync_state === 'sync')
    const both = new URL(primary.url)
    both.search = `host=127.0.0.1,127.0.0.1&port=${both.port},${new URL(standby.url).port}`
    const url = by === 'HAProxy' ? await startProxy([primary.url, standby.url]) : both.href
    return { primary, standby: standby.url, url }
  }

  /** Copies a running server, as a base backup does, and starts the copy as its standby. */
  async function startStandby(primaryUrl: string, { folder, copy }: { folder: string; copy: string }) {
    const [from, to] = [join(folder, 'postgres'), join(copy, 'postgres')]
    const { client } = await openSession(primaryUrl)
    await client.query("select pg_backup_start('standby', true)")
    // Files may change or vanish meanwhile.
    await run('cp', ['-a', from, to]).catch(() => {})
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    await client.end()
    await run('cp', ['-a', `${from}-password`, `${to}-password`])
    await rm(join(to, 'postmaster.pid'))
    const { uid, gid } = await stat(from)
    const { hostname, port: behind, username, password } = new URL(primaryUrl)
    const settings = join(to, 'postgresql.auto.conf')
    const connection = `host=${hostname} port=${behind} user=${username} password=${password}`
    const files = {
      backup_label: rows[0].labelfile,
      'standby.signal': '',
      'postgresql.auto.conf': `${await readFile(settings, 'utf8')}primary_conninfo = '${connection}'\n`,
    }
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(to, name), text)
      await chown(join(to, name), uid, gid)
    }
    const { port, release } = await reserveFreePort()
    const { part, url } = await preparePostgres({ dataFolder: to, port })
    await release()
    const process = await spawnProcess(part)
    await until(() => runOn(url, 'select 1').catch(() => null))
    return { url, process }
  }

  async function start(url: string): Promise<Drape> {
    const drape = await startDrape({ database: { url, drop: async () => {} }, credits: TRY_ONS + 10 })
    undo.push(() => drape.stop())
    await Promise.all([drape.startWorker(), drape.startWorker()])
    return drape
  }

  /** Sends a try-on until it is accepted, as a client with an idempotency key does. */
  async function order(drape: Drape, key: string, body: () => FormData): Promise<string> {
    return until(async () => {
      const answer = await drape
        .call('POST', '/tryon/v1/try-on', { body: body(), headers: { 'idempotency-key': key } })
        .catch(() => null)
      return answer?.status === 201 && String(answer.body.generationId)
    })
  }

  it.each([
    ['a list of hosts', 'is killed'],
    ['a list of hosts', 'still runs, but only reads'],
    ['HAProxy', 'is killed'],
    ['HAProxy', 'still runs, but only reads'],
  ])('behind %s loses and charges nothing twice when the former primary %s', async (by, end) => {
    const { primary, standby, url } = await startPair(by)
    const drape = await start(url)
    const [me, shirt] = [await readSmallPerson(), await readSample('garments/tshirt-navy.jpg')]
    const call = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
    }
    const accepted: number[] = []
    let isPromoted = false
    const orders = Array.from({ length: TRY_ONS }, async (_, index) => {
      // Some begin after the failover.
      await until(() => index < 15 || isPromoted)
      const id = await order(drape, `order-${index}`, () => formOf(call, { me, shirt }))
      accepted.push(performance.now())
      return id
    })
    await until(() => accepted.length >= 5)
    const endedAt = performance.now()
    if (end === 'is killed') await primary.crash()
    else {
      await runOn(primary.url, 'alter system set default_transaction_read_only = on')
      await runOn(primary.url, 'select pg_reload_conf()')
    }
    await runOn(standby, 'select pg_promote()')
    const promotedAt = performance.now()
    isPromoted = true
    const ids = await Promise.all(orders)
    const ended = await Promise.all(ids.map((id) => drape.finish(id)))
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    expect(new Set(ids).size).toBe(TRY_ONS)
    // Of the new primary: an idle connection of the test may still lead to the former one.
    const sums = await runOn(
      standby,
      `select count(distinct generation_id)::int as charged, sum(amount)::int as amount
        from ledger where generation_id is not null`,
    )
    expect(sums).toEqual([{ charged: TRY_ONS, amount: -TRY_ONS }])
    expect(await drape.balance()).toBe(10)
    expect(await runOn(standby, 'select count(*)::int from generations')).toEqual([{ count: TRY_ONS }])
    expect(drape.api.output()).not.toMatch(/uncaught|unhandled/)
    const againAt = accepted.find((at) => at > promotedAt) ?? promotedAt
    const [whole, afterwards] = [endedAt, promotedAt].map((from) => ((againAt - from) / 1000).toFixed(1))
    console.info(
      `${by}, the former primary ${end}: accepts again after ${whole} s, ${afterwards} s after the promotion`,
    )
  })
})
