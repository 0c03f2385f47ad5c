import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CUSTOM_RESOURCES } from '../../controller/definitions/custom-resources.ts'
import { SECRETS } from '../../controller/generated-secrets/ensure-secrets.ts'
import { retentionPolicies } from '../../controller/retention/resource.ts'
import { type Client, createClient } from '../../controller/runtime/client.ts'
import { type Connection, openConnection } from '../../controller/runtime/connection.ts'
import type { KubernetesObject, ResourceType } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { DEFINITIONS, REPLICA_SETS } from '../cluster/kinds.ts'
import { writeKubeconfig } from '../cluster/namespace.ts'
import { type OwnControlPlane, startOwnControlPlane } from '../cluster/own-control-plane.ts'
import { scale } from '../cluster/scale.ts'
import { findSharedControlPlane } from '../cluster/shared-control-plane.ts'
import { type Drape, startDrape } from '../support/drape.ts'
import { startProgram, type TestProgram } from '../support/process.ts'
import { until } from '../support/until.ts'
import { findChart } from './charts.ts'
import { type HookJobs, startHookJobs } from './hook-jobs.ts'

interface Secret extends KubernetesObject {
  readonly data: Readonly<Record<string, string>>
}

const CLAIMS: ResourceType = {
  ...SECRETS,
  plural: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
}
const KEPT = ['drape-database', 'drape-encryption', 'drape-provenance', 'drape-queue', 'drape-signing']
const NAMESPACE = 'shop'
const RBAC = 'rbac.authorization.k8s.io'

const chart = await findChart('drape')
const definitionsChart = await findChart('drape-crds')
/** As Git tools install it, without a build. */
const source = join(ROOT, 'charts/drape')
const possible = (await findSharedControlPlane())?.hasControllers && chart !== null && definitionsChart !== null

/** On a cluster without Drape definitions and nodes: pods stay Pending, and migrations do not run. */
describe.skipIf(!possible)('a release', () => {
  let controlPlane: OwnControlPlane
  let connection: Connection
  let client: Client
  let jobs: HookJobs

  const helm = (...args: string[]) =>
    chart?.helm(...args, '--kubeconfig', controlPlane.kubeconfig, '--namespace', NAMESPACE) ?? ''
  const given = ['--set', 'host=tryon.example', '--set', 'storageClass=fast', '--set', 'migrations.mode=manual']
  const upgrade = (...more: string[]) =>
    helm('upgrade', '--install', 'drape', source, '--create-namespace', ...given, ...more)
  const readSecrets = async () => {
    const secrets = await Promise.all(KEPT.map((name) => client.get<Secret>(SECRETS, { namespace: NAMESPACE, name })))
    return secrets.map((secret) => secret?.data)
  }
  const isLeft = async (type: ResourceType, name: string) => {
    const found = await client.get(type, { namespace: NAMESPACE, name })
    return found !== null && found.metadata.deletionTimestamp === undefined
  }

  beforeAll(async () => {
    controlPlane = await startOwnControlPlane()
    connection = openConnection({ kubeconfig: controlPlane.kubeconfig })
    client = createClient(connection, { fieldManager: 'test' })
    jobs = startHookJobs({ controlPlane, connection })
  })
  afterAll(async () => {
    jobs?.close()
    connection?.close()
    await controlPlane?.stop()
  })

  it('is installed with a host and a storage class, with CRDs before custom resources', async () => {
    const notes = await upgrade()
    expect(notes).toContain('URL:  http://tryon.example')
    expect(notes).toContain('WARNING: the bundled Postgres runs as 1 pod without backup')
    expect(await isLeft(workerPools.type, 'drape-cpu')).toBe(true)
    const claim = await client.get<KubernetesObject & { spec: object }>(CLAIMS, {
      namespace: NAMESPACE,
      name: 'drape-objects',
    })
    expect(claim?.spec).toMatchObject({ storageClassName: 'fast' })
  })

  it('warns in its notes of trial settings and settings that cannot work', async () => {
    const notes = await upgrade('--dry-run=server', '--set', 'pools.cpu.enabled=false', '--set', 'purge=true')
    for (const warning of [
      'the bundled Redis runs as 1 pod',
      'the volume for images can be mounted on 1 node only',
      'ingress.className is not set',
      'callers connect without TLS',
      'the cluster does not serve ServiceMonitors',
      'no pool is enabled',
      'purge is true',
    ])
      expect(notes).toContain(`WARNING: ${warning}`)
    expect(notes).not.toContain('crds.keep is false')
  })

  it('prints no secret in its notes', async () => {
    const notes = await helm('get', 'notes', 'drape')
    for (const data of await readSecrets()) {
      for (const value of Object.values(data ?? {})) {
        expect(notes).not.toContain(Buffer.from(value, 'base64').toString())
      }
    }
  })

  describe('with a controller that has only the permissions of its service account', () => {
    let drape: Drape
    let controller: TestProgram

    beforeAll(async () => {
      drape = await startDrape()
      const user = `system:serviceaccount:${NAMESPACE}:drape-controller`
      controller = await startProgram('controller', {
        ...drape.env,
        KUBECONFIG: await writeKubeconfig(controlPlane, { user }),
        WATCH_NAMESPACE: NAMESPACE,
        WATCH_NODES: 'false',
        LEASE_NAMESPACE: NAMESPACE,
        LEASE_NAME: 'drape-controller',
      })
    })
    afterAll(async () => {
      await controller?.end('SIGTERM')
      await drape?.stop()
    })

    it('creates the workers of its pool', async () => {
      const replicaSet = await until(() =>
        client.get<KubernetesObject & { spec: { replicas: number } }>(REPLICA_SETS, {
          namespace: NAMESPACE,
          name: 'drape-cpu-workers',
        }),
      )
      expect(replicaSet.spec.replicas).toBe(1)
    })

    it('reports the status of the pool', async () => {
      const name = { namespace: NAMESPACE, name: 'drape-cpu' }
      const desired = await until(async () => {
        const pool = await client.get<KubernetesObject & { status?: { desiredReplicas?: number } }>(
          workerPools.type,
          name,
        )
        // The first status may be of before its engines were known.
        return pool?.status?.desiredReplicas
      })
      expect(desired).toBe(1)
    })

    it('runs its retention policy, without a forbidden request', async () => {
      const name = { namespace: NAMESPACE, name: 'drape-expired' }
      await until(async () => {
        const policy = await client.get<KubernetesObject & { status?: object }>(retentionPolicies.type, name)
        return policy?.status
      })
      expect(controller.output()).not.toMatch(/forbidden/i)
    })
  })

  it('keeps its generated Secrets when upgraded', async () => {
    const before = await readSecrets()
    expect(before.every((data) => Object.keys(data ?? {}).length > 0)).toBe(true)
    await upgrade('--set', 'controller.replicas=3', '--set', 'api.autoscaling.enabled=true')
    expect(await readSecrets()).toEqual(before)
  })

  it('does not revert replicas set by an autoscaler', async () => {
    const name = { namespace: NAMESPACE, name: 'drape-cpu' }
    const external = ['--set', 'pools.cpu.mode=External', '--set', 'pools.cpu.replicas=1']
    await upgrade(...external)
    await scale(connection, workerPools.type, name, 3)
    await upgrade(...external, '--set', 'pools.cpu.workSeconds=90')
    expect(await client.get(workerPools.type, name)).toMatchObject({
      spec: { replicas: 3, scaling: { mode: 'External' } },
    })
    // It belongs to the autoscaler too, so Helm alone cannot take it away again.
    await client.patch(workerPools.type, name, { spec: { replicas: null } })
    await upgrade()
    expect(await client.get(workerPools.type, name)).toMatchObject({ spec: { scaling: { mode: 'Auto' } } })
  })

  it('limits users who may write pools by admission policy', async () => {
    await upgrade('--set', 'admissionPolicy.enabled=true', '--set', 'admissionPolicy.maxReplicas=10')
    const large = (replicas: number) => {
      const template = { image: 'drape/worker:test', requests: { cpu: 1 } }
      const spec = { engines: ['warp'], replicas, scaling: { mode: 'Fixed' }, template }
      return client.apply(workerPools.type, { metadata: { namespace: NAMESPACE, name: 'large' }, spec })
    }
    // A policy holds a moment after it was made.
    const refused = await until(() =>
      large(11).then(
        () => false as const,
        (error: Error) => error,
      ),
    )
    expect(refused.message).toContain('pools may have at most 10 workers here')
    await large(10)
    await client.delete(workerPools.type, { namespace: NAMESPACE, name: 'large' })
  })

  it('keeps data, Secrets and CRDs when uninstalled, and reuses them when reinstalled', async () => {
    const before = await readSecrets()
    await helm('uninstall', 'drape')
    expect(await isLeft(CLAIMS, 'drape-objects')).toBe(true)
    expect(await isLeft(CLAIMS, 'drape-postgres')).toBe(true)
    expect(await readSecrets()).toEqual(before)
    expect(await client.list(workerPools.type)).toEqual([])
    await upgrade()
    expect(await readSecrets()).toEqual(before)
    expect(await isLeft(workerPools.type, 'drape-cpu')).toBe(true)
  })

  it('deletes everything when configured before uninstalling', async () => {
    await upgrade('--set', 'purge=true')
    await helm('uninstall', 'drape')
    expect(await isLeft(CLAIMS, 'drape-objects')).toBe(false)
    expect(await readSecrets()).toEqual(KEPT.map(() => undefined))
  })

  it('has Jobs that may only update and delete CRDs', async () => {
    const set = { 'crds.upgradeJob.enabled': true, 'crds.keep': false }
    const objects = (await chart?.render({ set, namespace: NAMESPACE })) ?? []
    const rights = objects.filter(({ kind, metadata }) => /crds-/.test(metadata.name) && kind !== 'Job')
    for (const { apiVersion, kind, ...object } of rights) await client.apply(typeOf(apiVersion, kind), object)
    const runAs = async (account: string, action: string) => {
      const user = `system:serviceaccount:${NAMESPACE}:${account}`
      const env = { ...process.env, KUBECONFIG: await writeKubeconfig(controlPlane, { user }) }
      return run(process.execPath, ['controller/definitions/definitions.ts', action], { cwd: ROOT, env })
    }
    expect(await runAs('drape-crds-upgrade', 'apply')).toContain('workerpools.drape.dev: applied')
    await expect(runAs('drape-crds-upgrade', 'delete')).rejects.toThrow(/cannot delete resource/)
    expect(await runAs('drape-crds-delete', 'delete')).toContain('workerpools.drape.dev: deleted')
    // All of them: one that is still on its way out cannot be made again.
    for (const { definition } of CUSTOM_RESOURCES) {
      const { metadata } = definition as unknown as KubernetesObject
      await until(async () => (await client.get(DEFINITIONS, { name: metadata.name })) === null)
    }
  })

  it('uses CRDs that another chart has installed', async () => {
    const folder = definitionsChart?.folder ?? ''
    await helm('upgrade', '--install', 'drape-crds', folder)
    await upgrade('--set', 'crds.install=false')
    expect(await isLeft(workerPools.type, 'drape-cpu')).toBe(true)
    await helm('uninstall', 'drape-crds')
    expect(await isLeft(workerPools.type, 'drape-cpu')).toBe(true)
  })
})

function typeOf(apiVersion: string, kind: string): ResourceType {
  const plural = `${kind.toLowerCase()}s`
  const [version, group = ''] = apiVersion.split('/').reverse()
  return { group, version, plural, kind, namespaced: group !== RBAC }
}
