import { describe, expect, it } from 'vitest'
import { listImages } from '../../scripts/charts/images.ts'
import { findChart, findValuesFiles, type Rendered, renderWith } from './charts.ts'
import { generatedSecretsOf } from './generated-secrets.ts'
import { imagesOf, podSpecsOf, podsOf } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const valuesFiles = await findValuesFiles()
const GPU = ['values-gpu.yaml']
const ALL = {
  'crds.upgradeJob.enabled': true,
  'crds.keep': false,
  'dashboard.enabled': true,
  'dashboard.ingress.enabled': true,
  'dashboard.ingress.host': 'ops.example',
  'networkPolicy.dashboardFrom': [{ podSelector: {} }],
}

describe.skipIf(chart === null)('the chart', () => {
  it('lists every image that it may use', async () => {
    const known = new Set(await listImages(chart?.folder ?? ''))
    const rendered = [(await chart?.render({ values: GPU, set: ALL })) ?? []]
    for (const values of valuesFiles)
      rendered.push((await chart?.render({ values, set: { global: { imageRegistry: '' } } })) ?? [])
    const used = new Set(rendered.flat().flatMap(imagesOf))
    expect(used.size).toBe(known.size)
    expect([...used].filter((image) => !known.has(image))).toEqual([])
  })

  it('refers to an image by its own tag or digest, in the global registry', async () => {
    const digest = `sha256:${'a'.repeat(64)}`
    const objects = await render({
      'api.image': `drape/api@${digest}`,
      'image.tag': 'edge',
      'global.imageRegistry': 'registry.example:5000',
      'redis.image': `docker.io/valkey/valkey@${digest}`,
    })
    const images = new Set(objects.flatMap(imagesOf))
    expect(images).toContain(`registry.example:5000/drape/api@${digest}`)
    expect(images).toContain('registry.example:5000/drape/controller:edge')
    expect(images).toContain(`registry.example:5000/valkey/valkey@${digest}`)
    for (const image of images) expect(image).toMatch(/^registry\.example:5000\//)
    const own = await render({
      'image.registry': 'registry.example',
      'api.image': 'other.example/api',
      'image.tag': '7',
    })
    expect([...new Set(own.flatMap(imagesOf))].sort()).toEqual([
      'docker.io/library/postgres:18',
      'docker.io/valkey/valkey:8.1',
      'other.example/api:7',
      'registry.example/drape/controller:7',
      'registry.example/drape/worker:7',
    ])
  })

  it.for(['drape', 'shop', 'a-release-whose-name-is-rather-long-for-an-object'])(
    'refers to nothing that it does not bring, as the release %s',
    async (name) => {
      const objects =
        (await chart?.render({
          name,
          values: GPU,
          set: { ...ALL, host: 'tryon.example', 'metrics.monitors': 'always' },
        })) ?? []
      const there = new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
      expect(there.size).toBe(objects.length)
      for (const { metadata } of generatedSecretsOf(objects)) there.add(`Secret ${metadata.name}`)
      const wanted = objects.flatMap(referencesOf)
      expect(wanted.length).toBeGreaterThan(60)
      expect(wanted.filter((reference) => !there.has(reference))).toEqual([])
      const pods = objects.flatMap(podsOf)
      for (const { kind, metadata, spec } of objects.filter(({ kind }) => kind === 'Service')) {
        const selected = pods.filter(({ metadata: { labels = {} } }) =>
          Object.entries<string>(spec.selector).every(([key, value]) => labels[key] === value),
        )
        expect(selected, `${kind} ${metadata.name}`).toHaveLength(1)
      }
      for (const { metadata } of objects) expect(metadata.name.length, metadata.name).toBeLessThanOrEqual(63)
    },
  )
})

/** What an object takes for granted, as kinds and names. */
function referencesOf(object: Rendered): string[] {
  const { kind, spec, subjects = [], roleRef } = object
  const ofBindings = [
    ...subjects.map(({ kind: whose, name }: Rendered) => `${whose} ${name}`),
    ...(roleRef ? [`${roleRef.kind} ${roleRef.name}`] : []),
  ]
  if (kind === 'WorkerPool') {
    const { template } = spec
    return [
      `ScalingPolicy ${spec.scaling.policyRef.name}`,
      `ServiceAccount ${template.serviceAccountName}`,
      // The Engine of an exported model is applied from the export.
      ...spec.engines.filter((engine: string) => engine !== 'fashn-vton').map((engine: string) => `Engine ${engine}`),
      ...template.env.flatMap(({ secret }: Rendered) => (secret ? [`Secret ${secret.name}`] : [])),
      ...template.volumes.flatMap(({ claim }: Rendered) => (claim ? [`PersistentVolumeClaim ${claim}`] : [])),
    ]
  }
  if (kind === 'Ingress') return [`Service ${spec.rules[0].http.paths[0].backend.service.name}`]
  return [...ofBindings, ...podSpecsOf(object).flatMap(referencesOfPod)]
}

function referencesOfPod(pod: Rendered): string[] {
  const { serviceAccountName, volumes = [], initContainers = [], containers } = pod
  return [
    ...(serviceAccountName ? [`ServiceAccount ${serviceAccountName}`] : []),
    ...volumes.flatMap(({ secret, configMap, persistentVolumeClaim }: Rendered) => [
      ...(secret ? [`Secret ${secret.secretName}`] : []),
      ...(configMap ? [`ConfigMap ${configMap.name}`] : []),
      ...(persistentVolumeClaim ? [`PersistentVolumeClaim ${persistentVolumeClaim.claimName}`] : []),
    ]),
    ...[...initContainers, ...containers].flatMap(({ env = [] }) =>
      env.flatMap(({ valueFrom }: Rendered) => (valueFrom ? [`Secret ${valueFrom.secretKeyRef.name}`] : [])),
    ),
  ]
}
