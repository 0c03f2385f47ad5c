import { describe, expect, it } from 'vitest'
import { type Engine, engines } from '../../../../controller/engine/resource.ts'
import { workerPools } from '../../../../controller/worker-pool/resource.ts'
import { renderReplicaSet } from '../../../../controller/worker-pool/template/replica-set.ts'
import { readPod } from '../../../../controller/worker-pool/workers/pods.ts'

const podSpec = (template: object, known: readonly Engine[] = []) => podTemplate({ template }, known).spec
const podTemplate = (
  { template = {}, ...spec }: { template?: object; [field: string]: unknown },
  known: readonly Engine[] = [],
) => {
  const read = workerPools.read({
    apiVersion: 'drape.dev/v1alpha1',
    kind: 'WorkerPool',
    metadata: { name: 'small', namespace: 'shop', uid: 'f0f0', generation: 1 },
    spec: {
      engines: ['warp'],
      replicas: 1,
      scaling: { mode: 'Fixed' },
      template: { image: 'drape/worker:test', requests: { cpu: 1 }, ...template },
      ...spec,
    },
  })
  if ('problems' in read) throw new Error(read.problems)
  return renderReplicaSet(read.object, known, 1).spec.template
}

describe('the pods of a pool', () => {
  it('mount the folders of their template', () => {
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

  it('run on the node of the pods with which they share a volume', () => {
    const term = { labelSelector: { matchLabels: { files: 'shop' } }, topologyKey: 'kubernetes.io/hostname' }
    expect(podSpec({ nextTo: { files: 'shop' } })).toMatchObject({
      affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } },
    })
    expect(podSpec({}).affinity).not.toHaveProperty('podAffinity')
  })

  it('prefer zones with fewer workers of the pool, and nodes with fewer', () => {
    const labelSelector = { matchLabels: { 'app.kubernetes.io/name': 'drape-worker', 'drape.dev/pool': 'small' } }
    const podAffinityTerm = { labelSelector, topologyKey: 'topology.kubernetes.io/zone' }
    const preferred = [{ weight: 100, podAffinityTerm }]
    expect(podSpec({})).toMatchObject({
      affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } },
      topologySpreadConstraints: [{ topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' }],
    })
  })

  it('get acknowledged licenses, and change for no other engine', () => {
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

  it('download the files of engines with a URL beside the worker, which waits for them', () => {
    const engine = (name: string, source: object): Engine => {
      const files = [{ path: 'model.onnx', sha256: 'a'.repeat(64), bytes: 1 }]
      const spec = { license: { name: 'terms', commercialUse: true }, files, source }
      const metadata = { name, namespace: 'shop', uid: name, generation: 1 }
      const read = engines.read({ apiVersion: 'drape.dev/v1alpha1', kind: 'Engine', metadata, spec })
      if ('problems' in read) throw new Error(read.problems)
      return read.object
    }
    const claimed = engine('claimed', { persistentVolumeClaim: { claimName: 'models' } })
    const [first, second] = ['first', 'second'].map((name) => engine(name, { url: { base: 'https://models.example' } }))
    const { initContainers, containers } = podSpec({}, [claimed, first, second])
    const summary = (initContainers ?? []).map((container) => {
      const { name, restartPolicy, readinessProbe, env } = container as unknown as {
        name: string
        restartPolicy?: string
        readinessProbe?: { httpGet: { port: number } }
        env: { name: string; value: string }[]
      }
      const port = env.find((each) => each.name === 'PROBE_PORT')?.value
      return [name, restartPolicy, readinessProbe?.httpGet.port, port]
    })
    // Kubernetes runs them in this order, and waits for no sidecar.
    expect(summary).toEqual([
      ['check-first', 'Always', 9091, '9091'],
      ['check-second', 'Always', 9092, '9092'],
      ['check-claimed', undefined, undefined, undefined],
    ])
    expect(containers[0].env).toContainEqual({ name: 'DOWNLOADED_ENGINES', value: 'first,second' })
    expect(containers[0].startupProbe.httpGet.path).toBe('/readyz?accept=waiting')
    expect(containers[0].readinessProbe.httpGet.path).toBe('/readyz')
    // The server of the files can be behind a proxy, or have a certificate of an authority of the operator.
    const connecting = [
      { name: 'NODE_EXTRA_CA_CERTS', value: '/etc/roots/ca.crt' },
      { name: 'HTTPS_PROXY', valueFrom: { secretKeyRef: { name: 'proxy', key: 'url' } } },
    ]
    const roots = { name: 'roots', mountPath: '/etc/roots', configMap: 'roots', readOnly: true }
    const [sidecar, check] = podSpec({ env: connecting, volumes: [roots] }, [claimed, first]).initContainers ?? []
    expect(sidecar).toMatchObject({ name: 'check-first', env: expect.arrayContaining(connecting) })
    expect(sidecar).toMatchObject({
      volumeMounts: [
        { name: 'models-first', mountPath: '/models/first', readOnly: false },
        { name: 'roots', mountPath: '/etc/roots', readOnly: true },
      ],
    })
    expect(check).toMatchObject({ name: 'check-claimed', volumeMounts: [{ name: 'models-claimed' }] })
    const without = podSpec({}, [claimed]).containers[0]
    expect(without.startupProbe.httpGet.path).toBe('/readyz')
    expect(without.env.map(({ name }) => name)).not.toContain('DOWNLOADED_ENGINES')
  })

  it('are kept off GPUs with less memory than their engines need, if the nodes state it', () => {
    const known = [engine('large', { runtime: { minMemoryMiB: 5000 } }), engine('small', { runtime: {} })]
    const affinityOf = (spec: object) =>
      podTemplate({ slotsPerReplica: 2, ...spec }, known).spec.affinity as Record<string, unknown>
    const key = 'nvidia.com/gpu.memory'
    const suitable = [
      { key, operator: 'Gt', values: ['9999'] },
      { key, operator: 'DoesNotExist' },
    ]
    const gpu = { accelerator: { resource: 'nvidia.com/gpu', count: 1 } }
    const required = (nodeSelectorTerms: object[]) => ({
      requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
    })
    const terms = suitable.map((expression) => ({ matchExpressions: [expression] }))
    expect(affinityOf(gpu).nodeAffinity).toEqual(required(terms))
    const spot = { key: 'pool', operator: 'In', values: ['spot'] }
    const tiers = [{ name: 'spot', hourlyCost: 1, nodeSelector: { pool: 'spot' } }]
    const inTier = suitable.map((expression) => ({ matchExpressions: [spot, expression] }))
    expect(affinityOf({ ...gpu, tiers }).nodeAffinity).toMatchObject(required(inTier))
    const mig = { accelerator: { resource: 'nvidia.com/mig-2g.20gb', count: 1 } }
    for (const other of [{}, mig]) expect(affinityOf(other)).not.toHaveProperty('nodeAffinity')
  })

  it('get self-test options of their engines that differ from the default', () => {
    const settingsOf = (known: readonly Engine[]) =>
      podSpec({}, known).containers[0].env.filter(({ name }) => name.startsWith('SELF_TEST_'))
    expect(settingsOf([engine('usual', { conformance: {} })])).toEqual([])
    const strict = engine('strict', { conformance: { golden: 'Required', maxDeviationPercent: 1 } })
    expect(
      settingsOf([
        strict,
        engine('usual', { conformance: {} }),
        engine('loose', { conformance: { maxDeviationPercent: 5 } }),
      ]),
    ).toEqual([
      { name: 'SELF_TEST_TOLERANCE', value: 'loose=5,strict=1' },
      { name: 'SELF_TEST_GOLDEN', value: 'strict' },
    ])
  })

  it('keep their digest, and other rules of a patch, while new workers avoid the nodes of sick ones', () => {
    const term = { labelSelector: { matchLabels: { a: 'b' } }, topologyKey: 'rack' }
    const required = 'requiredDuringSchedulingIgnoredDuringExecution'
    const read = workerPools.read({
      apiVersion: 'drape.dev/v1alpha1',
      kind: 'WorkerPool',
      metadata: { name: 'small', namespace: 'shop', uid: 'f0f0', generation: 1 },
      spec: {
        engines: ['warp'],
        replicas: 1,
        scaling: { mode: 'Fixed' },
        template: { image: 'drape/worker:test', requests: { cpu: 1 } },
        podTemplate: { spec: { affinity: { podAntiAffinity: { [required]: [term] } } } },
      },
    })
    if ('problems' in read) throw new Error(read.problems)
    const [usual, avoiding] = [false, true].map(
      (avoidsSick) => renderReplicaSet(read.object, [], 1, { avoidsSick, avoidedNodes: [] }).spec.template,
    )
    const { annotations } = usual.metadata
    expect(avoiding.metadata).toEqual({
      ...usual.metadata,
      annotations: { ...annotations, 'drape.dev/avoids-sick': 'true' },
    })
    const sick = {
      labelSelector: {
        matchLabels: { 'app.kubernetes.io/name': 'drape-worker' },
        matchExpressions: [{ key: 'drape.dev/sick', operator: 'In', values: ['node-avoided'] }],
      },
      topologyKey: 'kubernetes.io/hostname',
    }
    expect(usual.spec.affinity).toMatchObject({ podAntiAffinity: { [required]: [term] } })
    expect(avoiding.spec).toEqual({
      ...usual.spec,
      affinity: {
        ...usual.spec.affinity,
        podAntiAffinity: {
          ...(usual.spec.affinity as Record<string, object>).podAntiAffinity,
          [required]: [term, sick],
        },
      },
    })
  })

  it('can be drained after any patch', () => {
    const marks = {
      'drape.dev/fenced-at': '1',
      'drape.dev/marked-at': '1',
      'drape.dev/refused-at': 'never',
      'drape.dev/template-digest': 'mine',
      'controller.kubernetes.io/pod-deletion-cost': '-2147483648',
    }
    const { metadata, spec } = podTemplate({
      template: { annotations: { team: 'shop', ...marks } },
      podTemplate: {
        metadata: { labels: { 'drape.dev/pool': 'other', 'app.kubernetes.io/name': 'other' }, annotations: marks },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: [
            {
              name: 'worker',
              env: [
                { name: 'POOL', value: '' },
                { name: 'ENGINES', valueFrom: {} },
                { name: 'A', value: '1' },
              ],
            },
          ],
        },
      },
    })
    expect(metadata.labels).toMatchObject({ 'drape.dev/pool': 'small', 'app.kubernetes.io/name': 'drape-worker' })
    const ours = Object.keys(metadata.annotations).filter((name) => name in marks)
    expect(ours).toEqual(['drape.dev/template-digest'])
    expect(metadata.annotations).toMatchObject({ team: 'shop' })
    expect(metadata.annotations['drape.dev/template-digest']).not.toBe('mine')
    expect(spec.terminationGracePeriodSeconds).toBe(150)
    const byName = Map.groupBy(spec.containers[0].env, ({ name }) => name)
    expect(byName.get('POOL')).toEqual([{ name: 'POOL', value: 'shop/small' }])
    expect(byName.get('ENGINES')).toEqual([{ name: 'ENGINES', value: 'warp' }])
    expect(byName.get('A')).toEqual([{ name: 'A', value: '1' }])
    const longer = podTemplate({ podTemplate: { spec: { terminationGracePeriodSeconds: 900 } } })
    expect(longer.spec.terminationGracePeriodSeconds).toBe(900)
  })

  it.for([null, [], undefined])(
    'keep the settings of the controller where their patch sets the variables to %j',
    (env) => {
      const patched = podTemplate({ podTemplate: { spec: { containers: [{ name: 'worker', env }] } } })
      const [{ env: found }] = patched.spec.containers
      expect(found).toEqual(
        expect.arrayContaining([
          { name: 'POOL', value: 'shop/small' },
          { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
        ]),
      )
    },
  )

  it('are not created from an object that is nested too deeply', () => {
    const nested = (depth: number): object => (depth === 0 ? {} : { spec: nested(depth - 1) })
    expect(() => podTemplate({ podTemplate: nested(5000) })).toThrow('nested more than 100 levels')
  })

  it.for(['NaN', 'soon', '1e999'])('do not drain for a mark of %s', (text) => {
    const marked = { 'drape.dev/fenced-at': text, 'drape.dev/marked-at': text, 'drape.dev/refused-at': text }
    const pod = readPod({ metadata: { name: 'a', annotations: marked } })
    expect(pod).toMatchObject({ fencedAt: null, markedAt: null, refusedAt: null })
  })

  it('have a service account without token', () => {
    expect(podSpec({ serviceAccountName: 'workers' })).toMatchObject({
      serviceAccountName: 'workers',
      automountServiceAccountToken: false,
    })
  })
})

function engine(name: string, options: object): Engine {
  const files = [{ path: 'model.onnx', sha256: 'a'.repeat(64), bytes: 1 }]
  const license = { name: 'terms', commercialUse: true }
  const spec = { license, files, source: { bundled: {} }, ...options }
  const metadata = { name, namespace: 'shop', uid: name, generation: 1 }
  const read = engines.read({ apiVersion: 'drape.dev/v1alpha1', kind: 'Engine', metadata, spec })
  if ('problems' in read) throw new Error(read.problems)
  return read.object
}
