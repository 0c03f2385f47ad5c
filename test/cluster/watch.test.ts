import { describe, expect, it } from 'vitest'
import type { Client } from '../../controller/runtime/client.ts'
import { openConnection } from '../../controller/runtime/connection.ts'
import { KubernetesError } from '../../controller/runtime/kubernetes-error.ts'
import { type KubernetesObject, keyOf } from '../../controller/runtime/resource.ts'
import { type Watched, watchObjects } from '../../controller/runtime/watch.ts'
import { createRandom } from '../faults/support/random.ts'
import { createLink } from '../faults/support/tcp-proxy.ts'
import { until } from '../support/until.ts'
import { CONFIG_MAPS } from './kinds.ts'
import { createTestNamespace, writeKubeconfig } from './namespace.ts'
import { startOwnControlPlane } from './own-control-plane.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface ConfigMap extends KubernetesObject {
  readonly data?: Readonly<Record<string, string>>
}

const controlPlane = await findSharedControlPlane()

describe.skipIf(controlPlane === null)('a watch', () => {
  it('tracks existing, created, changed and deleted objects', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { connection, client, namespace } = place
    await write(client, namespace, 'early', '1')
    const changed: string[] = []
    const onChange = ({ metadata, data }: ConfigMap) => changed.push(`${metadata.name}=${data?.value}`)
    const watched = watchObjects<ConfigMap>({ connection, type: CONFIG_MAPS, namespace, onChange })
    await watched.synced
    expect(watched.get(`${namespace}/early`)).toMatchObject({ kind: 'ConfigMap', data: { value: '1' } })
    await write(client, namespace, 'late', '2')
    await write(client, namespace, 'early', '3')
    await client.delete(CONFIG_MAPS, { namespace, name: 'late' })
    await until(() => valuesOf(watched).join() === 'early=3' && changed.length >= 5)
    expect(changed.filter((change) => !change.startsWith('kube-root'))).toEqual([
      'early=1',
      'late=2',
      'early=3',
      'late=2',
    ])
    watched.close()
  })

  it('keeps the object of a version that it has noted before the event', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { connection, client, namespace } = place
    const watched = watchObjects<ConfigMap>({ connection, type: CONFIG_MAPS, namespace })
    await watched.synced
    watched.note(await write(client, namespace, 'own', '1'))
    const noted = watched.get(`${namespace}/own`)
    await write(client, namespace, 'other', '1')
    // The event of the first write comes before that of the second.
    await until(() => valuesOf(watched).includes('other=1'))
    expect(watched.get(`${namespace}/own`)).toBe(noted)
    watched.close()
  })

  it('resumes after a connection reset, with the events missed meanwhile', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { client, namespace } = place
    const link = await createLink(Number(new URL(controlPlane.server).port), createRandom(1))
    const connection = openConnection({ kubeconfig: await writeKubeconfig(controlPlane, { port: link.port }) })
    const watched = watchObjects<ConfigMap>({ connection, type: CONFIG_MAPS, namespace })
    await watched.synced
    for (let round = 0; round < 5; round++) {
      await until(() => link.reset() > 0)
      await write(client, namespace, 'counter', String(round))
      await until(() => valuesOf(watched).includes(`counter=${round}`))
    }
    watched.close()
    connection.close()
    await link.close()
  })

  it('recovers from a silent connection', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { client, namespace } = place
    const link = await createLink(Number(new URL(controlPlane.server).port), createRandom(1))
    const connection = openConnection({ kubeconfig: await writeKubeconfig(controlPlane, { port: link.port }) })
    const faults: unknown[] = []
    const watched = watchObjects<ConfigMap>({
      connection,
      type: CONFIG_MAPS,
      namespace,
      watchSeconds: 1,
      silenceSeconds: 1,
      onFault: (error) => faults.push(error),
    })
    await watched.synced
    link.injectFaults({ partitioned: true })
    await write(client, namespace, 'silent', 'yes')
    // It gives the line up and asks for another one, which is as dead.
    await until(() => faults.length > 0)
    expect(valuesOf(watched)).toEqual([])
    link.injectFaults()
    await until(() => valuesOf(watched).includes('silent=yes'))
    watched.close()
    connection.close()
    await link.close()
  })

  it('reflects its own writes at once, and ignores older events', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { client, namespace } = place
    const link = await createLink(Number(new URL(controlPlane.server).port), createRandom(1))
    const connection = openConnection({ kubeconfig: await writeKubeconfig(controlPlane, { port: link.port }) })
    await write(client, namespace, 'old', '1')
    const watched = watchObjects<ConfigMap>({ connection, type: CONFIG_MAPS, namespace })
    await watched.synced
    await until(() => valuesOf(watched).includes('old=1'))
    link.injectFaults({ partitioned: true })
    const changed = await write(client, namespace, 'old', '2')
    const made = await write(client, namespace, 'new', '1')
    watched.note(made)
    watched.note(changed)
    expect(valuesOf(watched)).toEqual(expect.arrayContaining(['old=2', 'new=1']))
    await client.delete(CONFIG_MAPS, { namespace, name: 'new' })
    await write(client, namespace, 'old', '3')
    link.injectFaults()
    await until(() => valuesOf(watched).includes('old=3') && watched.get(`${namespace}/new`) === undefined)
    watched.note(made)
    watched.note(changed)
    expect(valuesOf(watched).filter((value) => /^(old|new)=/.test(value))).toEqual(['old=3'])
    watched.close()
    connection.close()
    await link.close()
  })

  it('lists again when the resource version has expired', async () => {
    const own = await startOwnControlPlane()
    await using place = await createTestNamespace(own)
    const { client, namespace } = place
    const link = await createLink(Number(new URL(own.server).port), createRandom(1))
    const connection = openConnection({ kubeconfig: await writeKubeconfig(own, { port: link.port }) })
    await write(client, namespace, 'kept', '1')
    await write(client, namespace, 'deleted', '1')
    const seen: string[] = []
    const onChange = (object: ConfigMap) => seen.push(`${object.metadata.name}=${object.data?.value}`)
    const watched = watchObjects<ConfigMap>({ connection, type: CONFIG_MAPS, namespace, watchSeconds: 1, onChange })
    await watched.synced

    link.injectFaults({ partitioned: true })
    await client.delete(CONFIG_MAPS, { namespace, name: 'deleted' })
    await write(client, namespace, 'kept', '2')
    await own.killApiServer()
    await own.startApiServer()
    link.injectFaults()
    link.reset()
    await until(() => valuesOf(watched).join() === 'kept=2')
    expect(seen.filter((change) => !change.startsWith('kube-root')).sort()).toEqual([
      'deleted=1',
      'deleted=1',
      'kept=1',
      'kept=2',
    ])
    watched.close()
    connection.close()
    await link.close()
    await own.stop()
  })

  it('waits for a kind that does not exist yet', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { connection } = place
    const faults: unknown[] = []
    const type = { group: 'nowhere.example', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true }
    const watched = watchObjects({ connection, type, onFault: (error) => faults.push(error) })
    await until(() => faults.length > 0)
    expect(faults[0]).toMatchObject({ status: 404 })
    expect(faults[0]).toBeInstanceOf(KubernetesError)
    watched.close()
  })
})

async function write(client: Client, namespace: string, name: string, value: string): Promise<KubernetesObject> {
  return client.apply(CONFIG_MAPS, { metadata: { namespace, name }, data: { value } })
}

function valuesOf(watched: Watched<ConfigMap>): string[] {
  return watched
    .list()
    .filter(({ metadata }) => keyOf(metadata).endsWith('kube-root-ca.crt') === false)
    .map(({ metadata, data }) => `${metadata.name}=${data?.value}`)
}
