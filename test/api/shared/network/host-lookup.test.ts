import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createHostLookup } from '../../../../api/shared/network/host-lookup.ts'
import { startDnsServer } from '../../../support/dns-server.ts'

describe('a host is resolved', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-hosts-'))
  await writeFile(join(folder, 'hosts'), '10.0.0.9 shop.internal Shop # ours\n::9 shop.internal\n')
  await writeFile(
    join(folder, 'resolv.conf'),
    'nameserver 192.0.2.1\nsearch drape.svc.cluster.local svc.cluster.local\noptions ndots:5\n',
  )
  const server = await startDnsServer(
    {
      'shop.example': '203.0.113.7',
      'images.drape.svc.cluster.local': '10.1.0.1',
      'images.team.svc.cluster.local': '10.1.0.2',
    },
    { isSilent: (name) => name.endsWith('.slow.test') },
  )
  afterAll(async () => {
    await server.stop()
    await rm(folder, { recursive: true })
  })

  const look = (hostname: string, { timeoutMs = 5000, signal = new AbortController().signal } = {}) =>
    createHostLookup({
      servers: [server.address],
      hostsPath: join(folder, 'hosts'),
      resolvConfPath: join(folder, 'resolv.conf'),
      timeoutMs,
    })(hostname, signal)

  it.each([
    ['in the file of hosts', 'shop.internal', ['10.0.0.9', '::9']],
    ['in it under a name of one label, in any case', 'SHOP', ['10.0.0.9']],
    ['as this machine', 'a.localhost', ['127.0.0.1', '::1']],
    ['at a DNS server', 'shop.example', ['203.0.113.7']],
    ['at it as an absolute name', 'shop.example.', ['203.0.113.7']],
    ['within a search domain', 'images', ['10.1.0.1']],
    ['within a further search domain', 'images.team', ['10.1.0.2']],
    ['nowhere', 'nothing.example', []],
  ])('%s', async (_, hostname, addresses) => {
    expect(await look(hostname)).toEqual(addresses)
  })

  it('first unchanged if it has dots, and only so if it is absolute', async () => {
    server.asked.length = 0
    await look('shop.example')
    await look('images.')
    expect(new Set(server.asked)).toEqual(new Set(['shop.example', 'images']))
  })

  it('within its time limit, and until aborted', async () => {
    await expect(look('a.slow.test', { timeoutMs: 100 })).rejects.toThrow('aborted due to timeout')
    const away = new Error('the caller is gone')
    const leaving = new AbortController()
    const answer = look('a.slow.test', { signal: leaving.signal })
    setTimeout(() => leaving.abort(away), 100)
    await expect(answer).rejects.toBe(away)
    await expect(look('a.slow.test', { signal: AbortSignal.abort(away) })).rejects.toBe(away)
  })
})
