import { describe, expect, it } from 'vitest'
import { createClient } from '../../controller/runtime/client.ts'
import { openConnection } from '../../controller/runtime/connection.ts'
import { createEventRecorder } from '../../controller/runtime/events.ts'
import { KubernetesError } from '../../controller/runtime/kubernetes-error.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { createRandom } from '../faults/support/random.ts'
import { createLink } from '../faults/support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { CONFIG_MAPS, EVENTS } from './kinds.ts'
import { createTestNamespace, writeKubeconfig } from './namespace.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>
}

const controlPlane = await findSharedControlPlane()

describe.skipIf(controlPlane === null)('the client', () => {
  it('treats a deleted object as not found', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const name = { namespace: place.namespace, name: 'never' }
    expect(await place.client.get(CONFIG_MAPS, name)).toBeNull()
    expect(await place.client.patch(CONFIG_MAPS, name, { data: { a: '1' } })).toBeNull()
    await place.client.delete(CONFIG_MAPS, name)
  })

  it('lists more objects than one page contains', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { client, namespace } = place
    const names = Array.from({ length: 520 }, (_, i) => `many-${i}`)
    for (let first = 0; first < names.length; first += 40) {
      const some = names.slice(first, first + 40)
      await Promise.all(some.map((name) => client.create(CONFIG_MAPS, { metadata: { namespace, name } })))
    }
    const listed = await client.list<ConfigMap>(CONFIG_MAPS, { namespace })
    expect(listed.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(names))
    expect(listed[0]).toMatchObject({ apiVersion: 'v1', kind: 'ConfigMap' })
  })

  it('obeys the Retry-After of an overloaded server', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { client, namespace } = place
    await refuse(client, `greedy-${namespace}`)
    const kubeconfig = await writeKubeconfig(controlPlane, { user: `greedy-${namespace}` })
    const connection = openConnection({ kubeconfig })
    const greedy = createClient(connection, { fieldManager: 'greedy' })
    const refused = await until(async () => {
      const all = await Promise.allSettled(Array.from({ length: 50 }, () => greedy.list(CONFIG_MAPS, { namespace })))
      return all.map((each) => each.status === 'rejected' && each.reason).find(({ status }) => status === 429)
    })
    expect(refused).toBeInstanceOf(KubernetesError)
    expect(refused.retryAfterSeconds).toBeGreaterThanOrEqual(1)
    connection.close()
  })

  it('writes nothing when fenced', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { connection, client, namespace } = place
    let left = 0
    const fence = () => {
      if (left-- > 0) return 5000
      throw new KubernetesError(0, 'not the leader')
    }
    const fenced = createClient(connection, { fieldManager: 'test', fence })
    const metadata = { namespace, name: 'forbidden' }
    // Before the call, and once more when the connection is there.
    for (const passes of [0, 1]) {
      left = passes
      await expect(fenced.apply(CONFIG_MAPS, { metadata })).rejects.toThrow('not the leader')
      left = passes
      await expect(fenced.delete(CONFIG_MAPS, metadata)).rejects.toThrow('not the leader')
    }
    expect(await client.get(CONFIG_MAPS, metadata)).toBeNull()
    expect(await fenced.get(CONFIG_MAPS, metadata)).toBeNull()
  })

  it('times out a request without a response', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const link = await createLink(Number(new URL(controlPlane.server).port), createRandom(1))
    const connection = openConnection({ kubeconfig: await writeKubeconfig(controlPlane, { port: link.port }) })
    const client = createClient(connection, { fieldManager: 'test', fence: () => 200 })
    const metadata = { namespace: place.namespace, name: 'lost' }
    link.injectFaults({ partitioned: true })
    await expect(client.apply(CONFIG_MAPS, { metadata })).rejects.toMatchObject({ status: 0, reason: 'Unreachable' })
    connection.close()
    await link.close()
  })

  it('records a repeated event once with a count', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { client, namespace } = place
    const about = await client.create(CONFIG_MAPS, { metadata: { namespace, name: 'subject' } })
    const record = createEventRecorder({ client, component: 'test', instance: 'one' })
    for (let i = 0; i < 3; i++) await record(about, { type: 'Warning', reason: 'Slow', message: 'It takes long.' })
    await record(about, { type: 'Normal', reason: 'Done', message: 'It is over.' })
    const events = await client.list<KubernetesObject & { reason: string; count: number }>(EVENTS, { namespace })
    expect(events.map(({ reason, count }) => ({ reason, count }))).toEqual(
      expect.arrayContaining([
        { reason: 'Slow', count: 1 },
        { reason: 'Done', count: 1 },
      ]),
    )
    expect(events).toHaveLength(2)
  })
})

/** Gives a user the smallest share of the server: two requests of theirs at once are too many. */
async function refuse(client: ReturnType<typeof createClient>, user: string): Promise<void> {
  const type = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', namespaced: false }
  await client.create(
    { ...type, plural: 'prioritylevelconfigurations', kind: 'PriorityLevelConfiguration' },
    {
      metadata: { name: user },
      spec: {
        type: 'Limited',
        limited: {
          nominalConcurrencyShares: 0,
          limitResponse: { type: 'Reject' },
          lendablePercent: 0,
          borrowingLimitPercent: 0,
        },
      },
    },
  )
  await client.create(
    { ...type, plural: 'flowschemas', kind: 'FlowSchema' },
    {
      metadata: { name: user },
      spec: {
        priorityLevelConfiguration: { name: user },
        matchingPrecedence: 2,
        rules: [
          {
            subjects: [{ kind: 'User', user: { name: user } }],
            resourceRules: [
              { verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'], clusterScope: true },
            ],
          },
        ],
      },
    },
  )
}
