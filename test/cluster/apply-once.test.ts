import { describe, expect, it } from 'vitest'
import { createApplyOnce, isTouched, type Live } from '../../controller/runtime/apply-once.ts'
import { createClient } from '../../controller/runtime/client.ts'
import { watchObjects } from '../../controller/runtime/watch.ts'
import { until } from '../support/until.ts'
import { DEPLOYMENTS } from './kinds.ts'
import { createTestNamespace } from './namespace.ts'
import { scale } from './scale.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

interface Deployment extends Live {
  readonly spec: { readonly replicas: number }
}

const controlPlane = await findSharedControlPlane()
const ANNOTATION = 'drape.dev/applied'
const MANAGER = 'applier'

describe.skipIf(!controlPlane?.hasControllers)('applying once', () => {
  it('does not resend an object applied by an earlier process, until another writer changes it', async () => {
    if (controlPlane === null) return
    await using place = await createTestNamespace(controlPlane)
    const { connection, namespace } = place
    const client = createClient(connection, { fieldManager: MANAGER })
    const watched = watchObjects<Deployment>({
      connection,
      type: DEPLOYMENTS,
      namespace,
      keep: (object) => ({ metadata: object.metadata, spec: object.spec, touched: isTouched(object, MANAGER) }),
    })
    await watched.synced
    const key = `${namespace}/idle`
    const applyAnew = (replicas: number) =>
      createApplyOnce(client, { annotation: ANNOTATION })(DEPLOYMENTS, render(namespace, replicas), watched.get(key))
    const untilReplicas = (replicas: number) => until(() => watched.get(key)?.spec.replicas === replicas)

    expect(await applyAnew(0)).toBe(true)
    await untilReplicas(0)
    expect(await applyAnew(0)).toBe(false)
    expect(await applyAnew(2)).toBe(true)
    await untilReplicas(2)
    expect(await applyAnew(2)).toBe(false)
    await place.client.patch(DEPLOYMENTS, { namespace, name: 'idle' }, { spec: { replicas: 5 } })
    await untilReplicas(5)
    expect(await applyAnew(2)).toBe(true)
    await untilReplicas(2)
    for (const replicas of [1, 0]) {
      await scale(connection, DEPLOYMENTS, { namespace, name: 'idle' }, replicas)
      await untilReplicas(replicas)
      expect(await applyAnew(2), `scaled to ${replicas}`).toBe(true)
      await untilReplicas(2)
    }
    watched.close()
  })
})

function render(namespace: string, replicas: number) {
  const labels = { app: 'idle' }
  return {
    metadata: { namespace, name: 'idle' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'idle', image: 'idle' }] } },
    },
  }
}
