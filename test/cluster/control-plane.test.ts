import { describe, expect, it } from 'vitest'
import { createClient } from '../../controller/runtime/client.ts'
import { openConnection } from '../../controller/runtime/connection.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { until } from '../support/until.ts'
import { DEPLOYMENTS, NAMESPACES, PODS } from './kinds.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()

describe.skipIf(controlPlane === null)('a control plane for tests', () => {
  it.skipIf(controlPlane?.hasControllers === false)('creates the pods of a Deployment', async () => {
    const connection = openConnection({ kubeconfig: controlPlane?.kubeconfig })
    const client = createClient(connection, { fieldManager: 'test' })
    await client.create(NAMESPACES, { metadata: { name: 'pods-happen' } })
    const labels = { app: 'idle' }
    await client.apply(DEPLOYMENTS, {
      metadata: { namespace: 'pods-happen', name: 'idle' },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers: [{ name: 'idle', image: 'idle' }] } },
      },
    })
    const pods = await until(async () => {
      const found = await client.list<KubernetesObject>(PODS, { namespace: 'pods-happen' })
      return found.length === 2 && found
    })
    expect(pods.map(({ metadata }) => metadata.ownerReferences?.[0].kind)).toEqual(['ReplicaSet', 'ReplicaSet'])
    connection.close()
  })
})
