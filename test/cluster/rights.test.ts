import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../../controller/engine/resource.ts'
import { retentionPolicies } from '../../controller/retention/resource.ts'
import type { KubernetesObject, ResourceType } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { REPLICA_SETS } from './kinds.ts'
import { createTestNamespace, type TestNamespace, writeKubeconfig } from './namespace.ts'
import { installDefinitions } from './samples.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const controlPlane = await findSharedControlPlane()
const RIGHTS = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: true }
const ROLES: ResourceType = { ...RIGHTS, plural: 'roles', kind: 'Role' }
const BINDINGS: ResourceType = { ...RIGHTS, plural: 'rolebindings', kind: 'RoleBinding' }
const USER = 'half-a-controller'

describe.skipIf(controlPlane === null)('a controller without permission for retention policies', () => {
  let place: TestNamespace
  let drape: Drape
  let controller: TestProgram

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    const metadata = { namespace: place.namespace, name: USER }
    const allow = (apiGroup: string, ...resources: string[]) => ({ apiGroups: [apiGroup], resources, verbs: ['*'] })
    const rules = [
      allow('drape.dev', 'workerpools', 'workerpools/status', 'scalingpolicies', 'engines', 'engines/status'),
      allow('apps', 'replicasets'),
      allow('policy', 'poddisruptionbudgets'),
      allow('coordination.k8s.io', 'leases'),
      allow('', 'pods', 'events'),
    ]
    await place.client.create(ROLES, { metadata, rules })
    const roleRef = { apiGroup: RIGHTS.group, kind: 'Role', name: USER }
    await place.client.create(BINDINGS, {
      metadata,
      roleRef,
      subjects: [{ apiGroup: RIGHTS.group, kind: 'User', name: USER }],
    })
    drape = await startDrape()
    controller = await startProgram('controller', {
      ...drape.env,
      KUBECONFIG: await writeKubeconfig(controlPlane, { user: USER }),
      WATCH_NAMESPACE: place.namespace,
      LEASE_NAMESPACE: place.namespace,
      LEASE_SECONDS: '3',
    })
  })
  afterAll(async () => {
    await controller?.end()
    await drape?.stop()
    await place?.[Symbol.asyncDispose]()
  })

  it('reconciles pools, and runs no policy', async () => {
    const { client, namespace } = place
    const policy = { metadata: { namespace, name: 'unseen' }, spec: { ttlSeconds: 60, intervalSeconds: 10 } }
    await client.apply(retentionPolicies.type, policy)
    const spec = { license: { name: 'Apache-2.0', commercialUse: true }, source: { bundled: {} } }
    await client.apply(engines.type, { metadata: { namespace, name: 'mock' }, spec })
    const template = { image: 'drape/worker:test', requests: { cpu: '1' } }
    await client.apply(workerPools.type, {
      metadata: { namespace, name: 'seen' },
      spec: { engines: ['mock'], replicas: 2, scaling: { mode: 'Fixed' }, template },
    })
    const replicaSet = await until(() =>
      client.get<KubernetesObject & { spec: { replicas: number } }>(REPLICA_SETS, { namespace, name: 'seen-workers' }),
    )
    expect(replicaSet.spec.replicas).toBe(2)
    expect((await fetch(`${controller.probeUrl}/readyz`)).status).toBe(200)
    expect(await client.get(retentionPolicies.type, policy.metadata)).not.toHaveProperty('status')
  })
})
