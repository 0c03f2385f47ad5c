import { chown, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { openSession } from '../../api/shared/database/session.ts'
import { run } from '../../scripts/stack/commands.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { preparePostgres } from '../../scripts/stack/postgres.ts'
import { type Drape, formOf, readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { startOwnPostgres } from '../support/postgres.ts'
import { spawnProcess } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

const TRY_ONS = 40

describe('a streaming standby that is promoted under load', () => {
  const undo: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  /** Runs a statement on exactly this server, also in recovery. */
  const runOn = async (url: string, statement: string) => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      return (await client.query(statement)).rows
    } finally {
      await client.end()
    }
  }

  /** A primary with a synchronous standby, and the URL that names both. */
  async function startPair() {
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
    return { primary, standby: standby.url, url: both.href }
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

  it.each(['is killed', 'still runs, but only reads'])(
    'loses and charges nothing twice when the former primary %s',
    async (end) => {
      const { primary, standby, url } = await startPair()
      const drape = await start(url)
      const [me, shirt] = [await readSmallPerson(), await readSample('garments/tshirt-navy.jpg')]
      const call = {
        products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
        person: { image: { source: { fileKey: 'me' } } },
      }
      let accepted = 0
      const orders = Array.from({ length: TRY_ONS }, async (_, index) => {
        const id = await order(drape, `order-${index}`, () => formOf(call, { me, shirt }))
        accepted += 1
        return id
      })
      await until(() => accepted >= 5)
      if (end === 'is killed') await primary.crash()
      else {
        await runOn(primary.url, 'alter system set default_transaction_read_only = on')
        await runOn(primary.url, 'select pg_reload_conf()')
      }
      await runOn(standby, 'select pg_promote()')
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
    },
  )
})
