import { describe, expect, it } from 'vitest'
import { type Engine, engines } from '../../../controller/engine/resource.ts'
import { renderReplicaSet } from '../../../controller/worker-pool/replica-set.ts'
import { workerPools } from '../../../controller/worker-pool/resource.ts'

const podSpec = (template: object, known: readonly Engine[] = []) => {
  const read = workerPools.read({
    apiVersion: 'drape.dev/v1alpha1',
    kind: 'WorkerPool',
    metadata: { name: 'small', namespace: 'shop', uid: 'f0f0', generation: 1 },
    spec: {
      engines: ['warp'],
      replicas: 1,
      scaling: { mode: 'Fixed' },
      template: { image: 'drape/worker:test', requests: { cpu: 1 }, ...template },
    },
  })
  if ('problems' in read) throw new Error(read.problems)
  return renderReplicaSet(read.object, known, 1).spec.template.spec
}

describe('the pods of a pool', () => {
  it('mount the folders that their template names', () => {
    const { volumes, containers } = podSpec({
      volumes: [
        { name: 'objects', mountPath: '/var/lib/drape', claim: 'drape-objects' },
        { name: 'roots', mountPath: '/etc/roots', configMap: 'roots', readOnly: true },
        { name: 'credentials', mountPath: '/etc/credentials', secret: 'storage', readOnly: true },
        { name: 'shared-memory', mountPath: '/dev/shm', memoryBytes: 1024 },
      ],
    })
    expect(volumes.slice(1)).toEqual([
      { name: 'objects', persistentVolumeClaim: { claimName: 'drape-objects' } },
      { name: 'roots', configMap: { name: 'roots' } },
      { name: 'credentials', secret: { secretName: 'storage' } },
      { name: 'shared-memory', emptyDir: { medium: 'Memory', sizeLimit: '1024' } },
    ])
    expect(containers[0].volumeMounts.slice(1)).toEqual([
      { name: 'objects', mountPath: '/var/lib/drape', readOnly: false },
      { name: 'roots', mountPath: '/etc/roots', readOnly: true },
      { name: 'credentials', mountPath: '/etc/credentials', readOnly: true },
      { name: 'shared-memory', mountPath: '/dev/shm', readOnly: false },
    ])
  })

  it('run where the pods are that they share a volume with', () => {
    const term = { labelSelector: { matchLabels: { files: 'shop' } }, topologyKey: 'kubernetes.io/hostname' }
    expect(podSpec({ nextTo: { files: 'shop' } })).toMatchObject({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    })
    expect(podSpec({})).not.toHaveProperty('affinity')
  })

  it('know which licences are acknowledged, and change for no other engine', () => {
    const engine = (name: string, license: object): Engine => {
      const files = [{ path: 'model.onnx', sha256: 'a'.repeat(64), bytes: 1 }]
      const metadata = { name, namespace: 'shop', uid: name, generation: 1 }
      const spec = { license: { name: 'terms', ...license }, files, source: { bundled: {} } }
      const read = engines.read({ apiVersion: 'drape.dev/v1alpha1', kind: 'Engine', metadata, spec })
      if ('problems' in read) throw new Error(read.problems)
      return read.object
    }
    const free = engine('free', { commercialUse: true, acknowledged: true })
    const unread = engine('unread', { commercialUse: false })
    const read = engine('read', { commercialUse: false, acknowledged: true })
    const settingOf = (known: readonly Engine[]) =>
      podSpec({}, known).containers[0].env.find(({ name }) => name === 'ACKNOWLEDGE_NON_COMMERCIAL')
    expect(settingOf([free, unread])).toBeUndefined()
    expect(settingOf([free, unread, read])).toEqual({ name: 'ACKNOWLEDGE_NON_COMMERCIAL', value: 'read' })
  })

  it('are told what the self-tests of their engines have to show, where that is not the usual', () => {
    const engine = (name: string, conformance: object): Engine => {
      const files = [{ path: 'model.onnx', sha256: 'a'.repeat(64), bytes: 1 }]
      const license = { name: 'terms', commercialUse: true }
      const spec = { license, files, source: { bundled: {} }, conformance }
      const metadata = { name, namespace: 'shop', uid: name, generation: 1 }
      const read = engines.read({ apiVersion: 'drape.dev/v1alpha1', kind: 'Engine', metadata, spec })
      if ('problems' in read) throw new Error(read.problems)
      return read.object
    }
    const settingsOf = (known: readonly Engine[]) =>
      podSpec({}, known).containers[0].env.filter(({ name }) => name.startsWith('SELF_TEST_'))
    expect(settingsOf([engine('usual', {})])).toEqual([])
    const strict = engine('strict', { golden: 'Required', maxDeviationPercent: 1 })
    expect(settingsOf([strict, engine('usual', {}), engine('loose', { maxDeviationPercent: 5 })])).toEqual([
      { name: 'SELF_TEST_TOLERANCE', value: 'loose=5,strict=1' },
      { name: 'SELF_TEST_GOLDEN', value: 'strict' },
    ])
  })

  it('have a service account but none of its tokens', () => {
    expect(podSpec({ serviceAccountName: 'workers' })).toMatchObject({
      serviceAccountName: 'workers',
      automountServiceAccountToken: false,
    })
  })
})
