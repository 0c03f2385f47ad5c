import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CUSTOM_RESOURCES } from '../../controller/definitions/custom-resources.ts'
import { presentDefinitions } from '../../controller/definitions/present-definitions.ts'
import { type RetentionPolicy, retentionPolicies } from '../../controller/retention/resource.ts'
import { createClient } from '../../controller/runtime/client.ts'
import { createEventRecorder } from '../../controller/runtime/events.ts'
import { createReportInvalid } from '../../controller/runtime/invalid-object.ts'
import { KubernetesError } from '../../controller/runtime/kubernetes-error.ts'
import type { KubernetesObject, ResourceType } from '../../controller/runtime/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { DEFINITIONS_FOLDER, findDefinitions } from '../../scripts/charts/build.ts'
import { BROKEN_SAMPLES } from './broken-samples.ts'
import { CLAIM_TEMPLATES, DEFINITIONS, EVENTS } from './kinds.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { installDefinitions, readSamples, type SampleObject } from './samples.ts'
import { scale } from './scale.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

const AUTOSCALERS: ResourceType = {
  group: 'autoscaling',
  version: 'v2',
  plural: 'horizontalpodautoscalers',
  kind: 'HorizontalPodAutoscaler',
  namespaced: true,
}

const controlPlane = await findSharedControlPlane()
const samples = await readSamples()

describe('the CustomResourceDefinitions in crds/', () => {
  it('match the schemas of the controller', async () => {
    const definitions = [...presentDefinitions()]
    for (const [name, text] of definitions)
      expect(await readFile(join(DEFINITIONS_FOLDER, name), 'utf8'), `${name}: run scripts/crds`).toBe(text)
    expect(await findDefinitions()).toHaveLength(definitions.length)
  })

  it('describe every field', () => {
    for (const { definition } of CUSTOM_RESOURCES) expect(undescribed(definition)).toEqual([])
  })

  it('describe the default of every field', () => {
    const specs = CUSTOM_RESOURCES.flatMap(({ definition }) => nodesOf(definition)).filter(
      ({ path, node }) => /\.spec\b.*\.properties\.\w+$/.test(path) && 'default' in node,
    )
    const values = specs.filter(({ path, node }) => !path.includes('.status') && typeof node.default !== 'object')
    expect(values.length).toBeGreaterThan(30)
    expect(values.filter(({ node }) => !String(node.description).includes('Default '))).toEqual([])
  })

  it('have an invalid sample for each validation rule', () => {
    const messages = CUSTOM_RESOURCES.flatMap(({ definition }) => messagesOf(definition))
    const broken = BROKEN_SAMPLES.map(({ says }) => says)
    const without = (list: string[], others: string[]) => list.filter((message) => !others.includes(message))
    expect(without(messages, broken), 'rules without a sample in test/cluster/broken-samples.ts').toEqual([])
    expect(without(broken, messages), 'samples of test/cluster/broken-samples.ts without a rule').toEqual([])
  })
})

describe.skipIf(controlPlane === null)('the API server', () => {
  let place: TestNamespace

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
  })
  afterAll(() => place?.[Symbol.asyncDispose]())

  it('accepts the same definitions from another field manager', async () => {
    const other = createClient(place.connection, { fieldManager: 'other' })
    for (const { definition } of CUSTOM_RESOURCES) {
      const object = definition as unknown as KubernetesObject
      await other.apply(DEFINITIONS, { ...object }, { force: false })
    }
  })

  it.for(samples.map((sample) => [`${sample.kind} ${sample.metadata.name}`, sample] as const))(
    'takes the sample %s, and the controller reads it as it comes back',
    async ([, sample]) => {
      const applied = await apply(sample)
      const resource = CUSTOM_RESOURCES.find(({ type }) => type.kind === sample.kind)
      if (resource === undefined) return
      // With all defaults filled in by both.
      const [ours, theirs] = [resource.read(sample), resource.read(applied)]
      expect(ours).toMatchObject({ object: { spec: applied.spec } })
      expect(theirs).toMatchObject({ object: { spec: applied.spec } })
    },
  )

  it.for(BROKEN_SAMPLES.map((broken) => [broken.says, broken] as const))(
    'refuses a sample: %s',
    async ([, { sample: name, set, says, at, later }]) => {
      const sample = samples.find(({ metadata }) => metadata.name === name) as SampleObject
      const named = { ...sample, metadata: { ...sample.metadata, name: `${later ? 'later' : 'broken'}-${name}` } }
      if (later) await apply(named)
      const refused = await apply(changed(named, set)).catch((error) => error)
      expect(refused).toBeInstanceOf(KubernetesError)
      expect(refused).toMatchObject({ status: 422 })
      expect(refused.message).toContain(`${at}: Invalid value`)
      expect(refused.message).toContain(says)
      expect(refused.message).not.toMatch(/<nil>|\bnull\b/)
    },
  )

  it('rejects invalid quantities', async () => {
    const sample = samples.find(({ metadata }) => metadata.name === 'fixed') as SampleObject
    for (const cpu of ['lots', '1 core', '-1', '1e', ''])
      await expect(apply(changed(sample, { 'spec.template.requests': { cpu } })), cpu).rejects.toThrow(
        'spec.template.requests.cpu',
      )
    for (const cpu of [1, '1', '.5', '1.5', '500m', '4Gi', '1e3'])
      expect(await apply(changed(sample, { 'spec.template.requests': { cpu } }))).toMatchObject({ kind: 'WorkerPool' })
  })

  it('gets one event for an object that an older definition accepted', async () => {
    const sample = samples.find(({ metadata }) => metadata.name === 'careful') as SampleObject
    const { client, namespace } = place
    const found = await apply(sample)
    const record = createEventRecorder({ client, component: 'test', instance: 'test' })
    const now = () => new Date()
    const reportInvalid = createReportInvalid({ client, record, now })
    await reportInvalid(retentionPolicies.type, found, 'spec.ttlSeconds must be integer')
    const name = { namespace, name: 'careful' }
    const reported = await client.get<RetentionPolicy>(retentionPolicies.type, name)
    expect(reported?.status?.conditions).toMatchObject([
      { type: 'Ready', status: 'False', reason: 'InvalidSpec', message: 'spec.ttlSeconds must be integer' },
      { type: 'Reconciling', status: 'False' },
      { type: 'Stalled', status: 'True', reason: 'InvalidSpec' },
    ])
    const events = await client.list<KubernetesObject & { reason: string }>(EVENTS, { namespace })
    expect(events.map(({ reason }) => reason)).toEqual(['InvalidSpec'])
    if (reported === null) return
    await reportInvalid(retentionPolicies.type, reported, 'spec.ttlSeconds must be integer')
    const again = await client.get<RetentionPolicy>(retentionPolicies.type, name)
    expect(again?.metadata.resourceVersion).toBe(reported.metadata.resourceVersion)
  })

  it('accepts a shorter ttlSeconds when confirmed', async () => {
    const sample = samples.find(({ metadata }) => metadata.name === 'careful') as SampleObject
    await apply(sample)
    const shrunk = await apply(changed(sample, { 'spec.ttlSeconds': 60, 'spec.confirmShrink': 60 }))
    expect(shrunk.spec).toMatchObject({ ttlSeconds: 60, dryRun: true })
    const read = retentionPolicies.read(shrunk)
    expect(read).toMatchObject({ object: { spec: { selector: { kinds: ['person', 'result'] } } } })
  })

  it('accepts replicas of an external pool from an autoscaler', async () => {
    const { client, connection, namespace } = place
    await apply(
      samples.find(({ metadata, kind }) => metadata.name === 'external' && kind === 'WorkerPool') as SampleObject,
    )
    const name = { namespace, name: 'external' }
    await scale(connection, workerPools.type, name, 5)
    expect(await client.get(workerPools.type, name)).toMatchObject({ spec: { replicas: 5 } })
  })

  it.for(['120%', '1', 'half', -1, 1001, 1.5])('rejects %s as a share of the workers', async (maxSurge) => {
    const sample = samples.find(({ metadata }) => metadata.name === 'mig') as SampleObject
    await expect(apply(changed(sample, { 'spec.rollout.maxSurge': maxSurge }))).rejects.toThrow('spec.rollout.maxSurge')
  })

  function apply(sample: SampleObject): Promise<SampleObject> {
    const type = [...CUSTOM_RESOURCES.map((resource) => resource.type), AUTOSCALERS, CLAIM_TEMPLATES].find(
      ({ kind }) => kind === sample.kind,
    )
    if (type === undefined) throw new Error(`There is no kind ${sample.kind}`)
    const metadata = { ...sample.metadata, namespace: place.namespace }
    return place.client.apply<SampleObject>(type, { ...sample, metadata })
  }
})

function changed(sample: SampleObject, set: Readonly<Record<string, unknown>>): SampleObject {
  const copy = structuredClone(sample)
  for (const [path, value] of Object.entries(set)) {
    const names = path.split('.')
    const last = names.pop() ?? ''
    const parent = names.reduce((object, name) => object[name] as Record<string, unknown>, copy as unknown as Tree)
    if (value === undefined) delete parent[last]
    else parent[last] = value
  }
  return copy
}

type Tree = Record<string, unknown>

function nodesOf(value: unknown, path = ''): { path: string; node: Tree }[] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.entries(value).flatMap(([name, child]) => nodesOf(child, `${path}.${name}`))
  return [{ path, node: value as Tree }, ...below]
}

function messagesOf(definition: unknown): string[] {
  const rules = nodesOf(definition).flatMap(
    ({ node }) => (node['x-kubernetes-validations'] ?? []) as { message: string }[],
  )
  return rules.map(({ message }) => message)
}

function undescribed(definition: unknown): string[] {
  return nodesOf(definition)
    .filter(({ path }) => path.includes('openAPIV3Schema') && path.endsWith('.properties'))
    .flatMap(({ path, node }) => Object.entries(node).map(([name, field]) => ({ path: `${path}.${name}`, field })))
    .filter(({ path, field }) => !path.endsWith('.metadata') && !(field as Tree).description)
    .map(({ path }) => path)
}
