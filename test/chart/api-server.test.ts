import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines as engineResource } from '../../controller/engine/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { renderReplicaSet } from '../../controller/worker-pool/template/replica-set.ts'
import { NAMESPACES, PODS } from '../cluster/kinds.ts'
import { createTestNamespace, type TestNamespace } from '../cluster/namespace.ts'
import { installDefinitions, readSamples } from '../cluster/samples.ts'
import { findSharedControlPlane } from '../cluster/shared-control-plane.ts'
import { until } from '../support/until.ts'
import { findChart, findValuesFiles, type Rendered } from './charts.ts'
import { createDryRun, type DryRun } from './dry-run.ts'

const controlPlane = await findSharedControlPlane()
const chart = await findChart('drape')
const valuesFiles = await findValuesFiles()
const FOREIGN =
  /^(monitoring\.coreos\.com|grafana\.integreatly\.org|external-secrets\.io|gateway\.networking\.k8s\.io)\//
const ADMISSION = [
  { kind: 'ValidatingAdmissionPolicy', plural: 'validatingadmissionpolicies' },
  { kind: 'ValidatingAdmissionPolicyBinding', plural: 'validatingadmissionpolicybindings' },
].map((each) => ({ group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false, ...each }))
const EVERYTHING = {
  host: 'shop.example',
  'api.autoscaling.enabled': true,
  'crds.upgradeJob.enabled': true,
  'crds.keep': false,
  'networkPolicy.enabled': true,
  'admissionPolicy.enabled': true,
  'admissionPolicy.imagePrefixes': ['drape/'],
  'admissionPolicy.allowPodTemplate': true,
  'openshift.enabled': true,
  'pools.a100': { like: 'gpu', accelerator: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'mig' }] } },
  'dashboard.enabled': true,
  'dashboard.ingress.enabled': true,
  'dashboard.ingress.host': 'ops.example',
  'networkPolicy.dashboardFrom': [{ podSelector: {} }],
}

describe.skipIf(controlPlane === null || chart === null)('a real API server with strict field validation', () => {
  let place: TestNamespace
  let dryRun: DryRun

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    // A pod that breaks the strictest standard is not let in.
    const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' }
    await place.client.patch(NAMESPACES, { name: place.namespace }, { metadata: { labels } })
    dryRun = await createDryRun(place)
  })
  afterAll(() => place?.[Symbol.asyncDispose]())

  it.for(valuesFiles.map((files) => [files.join() || 'no values', files] as const))(
    'takes every object and every pod of %s',
    async ([, values], { expect }) => {
      const objects = (await chart?.render({ values, namespace: place.namespace })) ?? []
      expect(await refusals(objects)).toEqual([])
    },
  )

  it('accepts every object and pod with all options enabled', async () => {
    const values = ['values-gpu.yaml']
    const objects = (await chart?.render({ values, set: EVERYTHING, namespace: place.namespace })) ?? []
    expect(objects.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['HorizontalPodAutoscaler', 'Ingress', 'ValidatingAdmissionPolicy', 'Job', 'RoleBinding']),
    )
    expect(await refusals(objects)).toEqual([])
  })

  it('keeps that OpenShift assigns the IDs of workers', async () => {
    const { client, namespace } = place
    const objects = (await chart?.render({ values: ['values-openshift.yaml'], namespace })) ?? []
    const [pool] = objects.filter(({ kind }) => kind === 'WorkerPool')
    const kept = await client.apply(workerPools.type, pool as never)
    const { securityContext } = renderReplicaSet(readAs(workerPools, kept as never), [], 1).spec.template.spec
    expect(securityContext).toEqual({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } })
    await client.delete(workerPools.type, { namespace, name: pool.metadata.name })
  })

  it('accepts the pods of every sample pool', async () => {
    const samples = (await readSamples()) as unknown as Rendered[]
    const sampleEngines = samples
      .filter(({ kind }) => kind === 'Engine')
      .map((object) => readAs(engineResource, object))
    const samplePools = samples.filter(({ kind }) => kind === 'WorkerPool').map((object) => readAs(workerPools, object))
    const workers = samplePools.map((pool) => {
      const named = sampleEngines.filter(({ metadata }) => pool.spec.engines.includes(metadata.name))
      const { metadata, spec } = renderReplicaSet(pool, named, 1)
      return podNamed(`${metadata.name}-pod`, spec.template)
    })
    expect(workers).toHaveLength(samplePools.length)
    expect(await refusals(workers)).toEqual([])
  })

  it('rejects a pod that may become root (control)', async () => {
    const objects = (await chart?.render({ set: { 'api.podSpec.securityContext.runAsNonRoot': false } })) ?? []
    const [message] = await refusals(
      objects.filter(({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'drape-api'),
    )
    expect(message).toMatch(/violates PodSecurity "restricted:latest".*runAsNonRoot != true/)
  })

  it('rejects an Engine and a WorkerPool with a foreign image by admission policy', async () => {
    const { client, namespace } = place
    const prefix = 'registry.example/'
    const set = { 'admissionPolicy.enabled': true, 'admissionPolicy.imagePrefixes': [prefix] }
    const objects = (await chart?.render({ set, namespace })) ?? []
    const made = ADMISSION.map((type) => ({ type, object: objects.find(({ kind }) => kind === type.kind) as Rendered }))
    for (const { type, object } of made) await client.create(type, object as never)
    const engineFrom = (registry: string): Rendered => ({
      apiVersion: 'drape.dev/v1alpha1',
      kind: 'Engine',
      metadata: { name: 'files' },
      spec: {
        license: { name: 'Apache-2.0', commercialUse: true },
        files: [{ path: 'model.onnx', sha256: '0'.repeat(64), bytes: 1 }],
        source: { image: { reference: `${registry}models@sha256:${'0'.repeat(64)}` } },
      },
    })
    const poolFrom = (registry: string, more: object = {}): Rendered => ({
      apiVersion: 'drape.dev/v1alpha1',
      kind: 'WorkerPool',
      metadata: { name: 'files' },
      spec: {
        engines: ['files'],
        replicas: 1,
        scaling: { mode: 'Fixed' },
        template: { image: `${registry}worker:1`, requests: { cpu: '1' } },
        ...more,
      },
    })
    try {
      const refused = await until(async () => {
        const message = await dryRun([engineFrom('elsewhere.example/'), poolFrom('elsewhere.example/')])
        return message.length === 2 && message
      })
      expect(refused[0]).toContain(`images of engines must start with one of ${prefix} here`)
      expect(refused[1]).toContain(`images of workers must start with one of ${prefix} here`)
      expect(await dryRun([engineFrom(prefix), poolFrom(prefix)])).toEqual([])
      const podTemplate = { spec: { containers: [{ name: 'worker', image: 'elsewhere.example/worker:1' }] } }
      expect(await dryRun([poolFrom(prefix, { podTemplate })])).toEqual([
        expect.stringContaining('pools may have no podTemplate here'),
      ])
    } finally {
      for (const { type, object } of made) await client.delete(type, { name: object.metadata.name })
    }
  })

  /** What the API server says against these objects, and against the pods that come of them. */
  async function refusals(objects: readonly Rendered[]): Promise<string[]> {
    const known = objects.filter(({ apiVersion, kind }) => !FOREIGN.test(apiVersion) && kind !== 'Pod')
    const pods = [...objects.flatMap(podsOf), ...workerPodsOf(objects)]
    return dryRun([...known, ...pods])
  }
})

function podsOf({ kind, metadata, spec }: Rendered): Rendered[] {
  if (kind === 'Pod') return [podNamed(metadata.name, { metadata, spec })]
  if (!['Deployment', 'StatefulSet', 'DaemonSet', 'Job'].includes(kind)) return []
  return [podNamed(`${metadata.name}-pod`, spec.template)]
}

/** Those that the controller would make. */
function workerPodsOf(objects: readonly Rendered[]): Rendered[] {
  const engines = objects.filter(({ kind }) => kind === 'Engine').map((object) => readAs(engineResource, object))
  return objects
    .filter(({ kind }) => kind === 'WorkerPool')
    .map((object) => renderReplicaSet(readAs(workerPools, object), engines, 1))
    .map(({ metadata, spec }) => podNamed(`${metadata.name}-pod`, spec.template))
}

function readAs<T>(resource: { read(object: never): { object: T } | { problems: string } }, object: Rendered): T {
  const whole = { ...object, metadata: { ...object.metadata, uid: 'f0f0', generation: 1 } }
  const read = resource.read(whole as never)
  if ('problems' in read) throw new Error(`${object.kind} ${object.metadata.name}: ${read.problems}`)
  return read.object
}

// What they name is not there: nothing of the chart is.
function podNamed(name: string, template: { metadata?: object; spec: object }): Rendered {
  const { serviceAccountName: _, runtimeClassName: __, ...spec } = template.spec as Rendered
  return { apiVersion: 'v1', kind: PODS.kind, metadata: { ...template.metadata, name }, spec }
}
