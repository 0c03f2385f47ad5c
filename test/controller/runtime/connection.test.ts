import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createClient } from '../../../controller/runtime/client.ts'
import { openConnection } from '../../../controller/runtime/connection.ts'
import type { ResourceType } from '../../../controller/runtime/resource.ts'
import { requestService } from '../../support/request-service.ts'
import { until } from '../../support/until.ts'

const PODS: ResourceType = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true }
/** Connections are renewed with the next request. */
const RENEWAL_MS = 61_000

describe('a connection', () => {
  const clock = performance.now.bind(performance)
  let skippedMs: number
  beforeEach(() => {
    skippedMs = 0
    vi.spyOn(performance, 'now').mockImplementation(() => clock() + skippedMs)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  it('aborts all requests when closed, also those begun before a renewal', async () => {
    await using server = await startServer()
    const { connection, get } = await open(server.url)
    const before = get('a')
    await until(() => server.waiting.has('a'))
    skippedMs = RENEWAL_MS
    const began = [before, get('b')]
    await until(() => server.waiting.has('b'))
    connection.close()
    expect(await Promise.allSettled(began)).toMatchObject(Array(2).fill({ status: 'rejected' }))
  })

  it('lets requests finish that were begun before renewals', async () => {
    await using server = await startServer()
    const { connection, get } = await open(server.url)
    const began = ['a', 'b', 'c'].map(async (name, i) => {
      await until(() => server.waiting.size === i)
      skippedMs = i * RENEWAL_MS
      return get(name)
    })
    await until(() => server.waiting.size === 3)
    for (const [name, response] of server.waiting) response.end(JSON.stringify({ metadata: { name } }))
    expect(await Promise.all(began)).toMatchObject(['a', 'b', 'c'].map((name) => ({ metadata: { name } })))
    connection.close()
  })
})

async function open(server: string) {
  const { path } = await requestService('folder', null)
  const kubeconfig = join(path, 'kubeconfig')
  const config = {
    'current-context': 'here',
    contexts: [{ name: 'here', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'u', user: { token: 'secret' } }],
  }
  await writeFile(kubeconfig, JSON.stringify(config))
  const connection = openConnection({ kubeconfig })
  const client = createClient(connection, { fieldManager: 'test' })
  return { connection, get: (name: string) => client.get(PODS, { namespace: 'shop', name }) }
}

/** A server that answers when the test does, by the name of the object. */
async function startServer() {
  const waiting = new Map<string, ServerResponse>()
  const server = createServer((request, response) => {
    response.setHeader('Content-Type', 'application/json')
    waiting.set(request.url?.split('/').at(-1) ?? '', response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    waiting,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
