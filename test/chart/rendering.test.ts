import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { listImages } from '../../scripts/charts/images.ts'
import { findForbiddenChanges } from '../../scripts/charts/immutable-fields.ts'
import { describeRelease, readReleases } from '../../scripts/charts/releases.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { findChart, findValuesFiles, type Rendered } from './charts.ts'

const chart = await findChart('drape')
const valuesFiles = await findValuesFiles()
const render = async (set: Readonly<Record<string, unknown>> = {}, more: readonly string[] = []) =>
  (await chart?.render({ set, more })) ?? []
const kinds = (objects: readonly Rendered[]) => new Set(objects.map(({ kind }) => kind))
const named = (objects: readonly Rendered[], kind: string, name: string): Rendered => {
  const found = objects.find((object) => object.kind === kind && object.metadata.name === name)
  if (found === undefined) throw new Error(`There is no ${kind} ${name}`)
  return found
}
const OPERATORS = ['--api-versions', 'monitoring.coreos.com/v1']
const ALL = { 'pools.gpu.enabled': true, 'crds.upgradeJob.enabled': true, 'crds.keep': false }

describe.skipIf(chart === null)('the chart', () => {
  it('names every image that it may use, for those who have to bring them along', async () => {
    const known = new Set(await listImages(chart?.folder ?? ''))
    const rendered = [await render(ALL)]
    for (const values of valuesFiles)
      rendered.push((await chart?.render({ values, set: { global: { imageRegistry: '' } } })) ?? [])
    const used = new Set(rendered.flat().flatMap(imagesOf))
    expect(used.size).toBe(known.size)
    expect([...used].filter((image) => !known.has(image))).toEqual([])
  })

  it('finds an image by its digest rather than its tag, in the registry that all share', async () => {
    const digest = `sha256:${'a'.repeat(64)}`
    const objects = await render({
      'api.image.digest': digest,
      'image.tag': 'edge',
      'global.imageRegistry': 'registry.example:5000',
      'redis.image.digest': digest,
    })
    const images = new Set(objects.flatMap(imagesOf))
    expect(images).toContain(`registry.example:5000/drape/api@${digest}`)
    expect(images).toContain('registry.example:5000/drape/controller:edge')
    expect(images).toContain(`registry.example:5000/valkey/valkey@${digest}`)
    for (const image of images) expect(image).toMatch(/^registry\.example:5000\//)
  })

  it('keeps to a file system that nobody writes to, in every container', async () => {
    const containers = (await render(ALL)).flatMap(containersOf)
    expect(containers.length).toBeGreaterThan(15)
    for (const { name, securityContext, resources } of containers) {
      expect(securityContext, name).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
      expect(resources.requests, name).toMatchObject({ cpu: expect.anything(), memory: expect.anything() })
      expect(resources.limits, name).not.toHaveProperty('cpu')
    }
  })

  it('gives a token of the API to none but the controller', async () => {
    const pods = (await render()).flatMap(podSpecsOf)
    const withToken = pods.filter(({ automountServiceAccountToken }) => automountServiceAccountToken !== false)
    expect(withToken.map(({ containers }) => containers[0].name)).toEqual(['controller'])
  })

  it('shows no secret outside of Secrets', async () => {
    const secrets = ['postgres://me:hush-1@db/drape', 'rediss://:hush-2@queue:6379', 'hush-3 that signs', 'hush-4']
    const objects = await render({
      'postgres.enabled': false,
      'redis.enabled': false,
      'database.url': secrets[0],
      'queue.url': secrets[1],
      'signing.value': secrets[2],
      'storage.kind': 's3',
      'storage.s3': { bucket: 'pictures', accessKeyId: 'me', secretAccessKey: secrets[3] },
    })
    const text = (some: readonly Rendered[]) => JSON.stringify(some)
    expect(text(objects.filter(({ kind }) => kind !== 'Secret'))).not.toMatch(/hush/)
    const held = objects.filter(({ kind }) => kind === 'Secret').flatMap(({ data }) => Object.values<string>(data))
    for (const secret of secrets) expect(held).toContain(Buffer.from(secret).toString('base64'))
  })

  it('makes no Secret where all are there already', async () => {
    const objects = await render({
      'postgres.enabled': false,
      'redis.enabled': false,
      'database.existingSecret': 'a',
      'queue.existingSecret': 'b',
      'signing.existingSecret': 'c',
    })
    expect(kinds(objects)).not.toContain('Secret')
    const [{ env }] = named(objects, 'Deployment', 'drape-api').spec.template.spec.containers
    expect(env).toContainEqual({ name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'a', key: 'url' } } })
    expect(env).toContainEqual({
      name: 'SIGNING_SECRET',
      valueFrom: { secretKeyRef: { name: 'c', key: 'signing-secret' } },
    })
    const { env: ofWorkers } = named(objects, 'WorkerPool', 'drape-cpu').spec.template
    expect(ofWorkers).toContainEqual({ name: 'REDIS_URL', secret: { name: 'b', key: 'url' } })
  })

  it('asks the External Secrets Operator for what it is told to', async () => {
    const objects = await render({
      'postgres.enabled': false,
      'externalSecrets.enabled': true,
      'externalSecrets.secretStoreRef.name': 'vault',
      'externalSecrets.databaseUrl': 'prod/drape/database',
    })
    const { spec } = named(objects, 'ExternalSecret', 'drape-database')
    expect(spec).toMatchObject({
      target: { name: 'drape-database' },
      data: [{ secretKey: 'url', remoteRef: { key: 'prod/drape/database' } }],
    })
    expect(() => named(objects, 'Secret', 'drape-database')).toThrow()
  })

  it('asks for no right on everything, and for none on secrets', async () => {
    for (const scope of ['namespace', 'cluster']) {
      const objects = await render({ 'rbac.scope': scope, ...ALL })
      const roles = objects.filter(({ kind }) => /Role$/.test(kind))
      expect(kinds(roles)).toEqual(new Set(['Role', 'ClusterRole']))
      for (const { rules } of roles) {
        expect(JSON.stringify(rules)).not.toContain('*')
        expect(JSON.stringify(rules)).not.toContain('secrets')
      }
    }
  })

  it('keeps its controller to its namespace, unless told otherwise', async () => {
    const rolesOf = (objects: readonly Rendered[]) =>
      objects.filter(
        ({ kind, metadata }) => /Role$/.test(kind) && metadata.labels?.['app.kubernetes.io/component'] === 'controller',
      )
    expect(kinds(rolesOf(await render()))).toEqual(new Set(['Role']))
    expect(variable(await render(), 'controller', 'WATCH_NODES')).toBe('false')
    const seeing = await render({ 'rbac.nodes': true })
    expect(variable(seeing, 'controller', 'WATCH_NODES')).toBe('true')
    expect(named(seeing, 'ClusterRole', 'shop-drape-controller-nodes').rules).toEqual([
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    ])
    expect(kinds(rolesOf(await render({ 'rbac.scope': 'cluster' })))).toEqual(new Set(['Role', 'ClusterRole']))
  })

  it('tells the Prometheus Operator where there is one, or where it is told to', async () => {
    const told = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule']
    for (const kind of told) expect(kinds(await render())).not.toContain(kind)
    expect([...kinds(await render({}, OPERATORS))]).toEqual(expect.arrayContaining(told))
    const forced = await render({ 'metrics.monitors': 'always', 'metrics.rules.enabled': 'always' })
    expect([...kinds(forced)]).toEqual(expect.arrayContaining(told))
    const never = await render({ 'metrics.monitors': 'never', 'metrics.rules.enabled': 'never' }, OPERATORS)
    for (const kind of told) expect(kinds(never)).not.toContain(kind)
  })

  it('says where the page of each alert is', async () => {
    const objects = await render({ 'metrics.rules.runbookBaseUrl': 'https://docs.example/drape' }, OPERATORS)
    const { spec } = named(objects, 'PrometheusRule', 'drape-rules')
    const alerts = spec.groups.flatMap(({ rules }: Rendered) => rules).filter(({ alert }: Rendered) => alert)
    expect(alerts.length).toBeGreaterThan(10)
    for (const { annotations } of alerts) {
      expect(annotations.runbook_url).toMatch(/^https:\/\/docs\.example\/drape\/runbooks\/[a-z-]+\.md$/)
    }
  })

  it('brings each dashboard to where Grafana finds it, and to the test that reads it', async () => {
    const names = (await readdir(join(chart?.folder ?? '', 'dashboards'))).sort()
    expect(names.length).toBeGreaterThanOrEqual(4)
    const objects = await render({ 'dashboards.label': 'find_me', 'dashboards.folder': 'Shop' })
    const maps = objects.filter(({ metadata }) => metadata.labels?.find_me === '1')
    expect(maps.flatMap(({ data }) => Object.keys(data)).sort()).toEqual(names)
    for (const { data, metadata } of maps) {
      expect(metadata.annotations).toMatchObject({ grafana_folder: 'Shop' })
      for (const text of Object.values<string>(data)) expect(JSON.parse(text)).toHaveProperty('panels')
    }
    const { volumes } = named(objects, 'Pod', 'drape-test-dashboards').spec
    expect(volumes.flatMap(({ configMap }: Rendered) => configMap?.name ?? []).sort()).toEqual(
      maps.map(({ metadata }) => metadata.name).sort(),
    )
    const byOperator = await render({ 'dashboards.operator.enabled': true })
    expect(byOperator.filter(({ kind }) => kind === 'GrafanaDashboard')).toHaveLength(names.length)
    expect(kinds(byOperator)).not.toContain('ConfigMap')
  })

  it('says where these pages are to the dashboards as well', async () => {
    const dashboardsOf = async (values: Record<string, unknown>) =>
      (await render(values)).flatMap(({ kind, metadata, data }) =>
        kind === 'ConfigMap' && metadata.labels?.grafana_dashboard === '1' ? Object.values<string>(data) : [],
      )
    const pagesOf = (text: string) =>
      JSON.parse(text).templating.list.find(({ name }: { name: string }) => name === 'runbooks').query
    const plain = await dashboardsOf({})
    expect(plain).toHaveLength(4)
    expect(new Set(plain.map(pagesOf))).toEqual(new Set(['runbooks']))
    const published = await dashboardsOf({ 'metrics.rules.runbookBaseUrl': 'https://docs.example/drape' })
    expect(new Set(published.map(pagesOf))).toEqual(new Set(['https://docs.example/drape/runbooks']))
  })

  it('exposes the API by an Ingress, by a route, or not at all', async () => {
    expect(kinds(await render())).not.toContain('Ingress')
    const ingress = named(await render({ host: 'tryon.example' }), 'Ingress', 'drape-api')
    expect(ingress.spec.rules[0].host).toBe('tryon.example')
    const routed = await render({
      host: 'tryon.example',
      exposure: 'httpRoute',
      'httpRoute.parentRefs': [{ name: 'gateway' }],
    })
    expect(kinds(routed)).not.toContain('Ingress')
    expect(named(routed, 'HTTPRoute', 'drape-api').spec).toMatchObject({
      parentRefs: [{ name: 'gateway' }],
      hostnames: ['tryon.example'],
    })
    expect(variable(routed, 'api', 'PUBLIC_URL')).toBe('https://tryon.example')
    expect(variable(routed, 'api', 'PROXY_HOPS')).toBe('1')
    expect(variable(await render(), 'api', 'PROXY_HOPS')).toBe('0')
  })

  it('keeps all pods on the node of a volume that one node mounts, and apart where they may be', async () => {
    const together = await render()
    const share = { 'drape.dev/objects': 'drape-objects' }
    for (const component of ['api', 'controller']) {
      const { metadata, spec } = named(together, 'Deployment', `drape-${component}`).spec.template
      expect(metadata.labels).toMatchObject(share)
      expect(JSON.stringify(spec.affinity.podAffinity)).toContain(JSON.stringify(share))
    }
    expect(named(together, 'WorkerPool', 'drape-cpu').spec.template).toMatchObject({ nextTo: share, labels: share })
    const apart = await render({ 'storage.pvc.accessMode': 'ReadWriteMany' })
    expect(named(apart, 'Deployment', 'drape-api').spec.template.spec.affinity).toHaveProperty('podAntiAffinity')
    expect(named(apart, 'WorkerPool', 'drape-cpu').spec.template.nextTo).toEqual({})
  })

  it('does not count the replicas of what scales by itself', async () => {
    const objects = await render({ 'api.autoscaling.enabled': true, 'api.autoscaling.latencyTarget': '500m' })
    expect(named(objects, 'Deployment', 'drape-api').spec).not.toHaveProperty('replicas')
    const { metrics } = named(objects, 'HorizontalPodAutoscaler', 'drape-api').spec
    expect(metrics.map(({ type }: Rendered) => type)).toEqual(['Resource', 'Pods'])
    expect(kinds(await render())).not.toContain('HorizontalPodAutoscaler')
  })

  it('brings the schema by a Job beside the first install and before each upgrade', async () => {
    const first = (await render()).filter(({ kind }) => kind === 'Job')
    expect(first.map(({ metadata }) => metadata.annotations)).toEqual([undefined])
    const later = (await render({}, ['--is-upgrade'])).filter(({ kind }) => kind === 'Job')
    expect(later.map(({ metadata }) => metadata.annotations?.['helm.sh/hook'])).toEqual(['pre-upgrade'])
    const waits = (objects: readonly Rendered[]) =>
      ['api', 'controller'].map(
        (name) => named(objects, 'Deployment', `drape-${name}`).spec.template.spec.initContainers[0].args,
      )
    const check = ['check', 'migrations', '--wait-seconds', '600']
    expect(waits(await render())).toEqual([check, check])
    const byPods = await render({ 'migrations.mode': 'initContainer' })
    expect(kinds(byPods)).not.toContain('Job')
    expect(waits(byPods)).toEqual([['migrate', '--wait-seconds', '600'], check])
    expect(kinds(await render({ 'migrations.mode': 'manual' }))).not.toContain('Job')
  })

  it('has at least seven tests, which run nothing but our own images', async () => {
    const tests = (await render()).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test')
    expect(tests.length).toBeGreaterThanOrEqual(7)
    for (const image of tests.flatMap(imagesOf)) expect(image).toMatch(/^drape\//)
    expect(kinds(await render({ 'tests.enabled': false }))).not.toContain('Pod')
  })

  it.for(['drape', 'shop', 'a-release-whose-name-is-rather-long-for-an-object'])(
    'refers to nothing that it does not bring, as the release %s',
    async (name) => {
      const objects =
        (await chart?.render({ name, set: { ...ALL, host: 'tryon.example', 'metrics.monitors': 'always' } })) ?? []
      const there = new Set(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
      expect(there.size).toBe(objects.length)
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

  it('lets extras through, and labels of all objects', async () => {
    const objects = await render({
      commonLabels: { team: 'shop' },
      namespaceOverride: 'elsewhere',
      'api.nameOverride': 'front-door',
      'api.extraEnv': [{ name: 'EXTRA', value: '1' }],
      'api.extraVolumes': [{ name: 'more', emptyDir: {} }],
      'api.extraVolumeMounts': [{ name: 'more', mountPath: '/more' }],
      'api.podLabels': { tier: 'front' },
      'pools.cpu.extraEnv': [{ name: 'EXTRA', value: '2' }],
      extraObjects: [
        { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'given' } },
        'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: "{{ .Release.Name }}-told" }',
      ],
    })
    for (const { kind, metadata } of objects.filter(
      ({ metadata }) => !['given', 'drape-told'].includes(metadata.name),
    )) {
      expect(metadata.labels, `${kind} ${metadata.name}`).toMatchObject({ team: 'shop' })
      if (!kind.startsWith('Cluster')) expect(metadata.namespace, `${kind} ${metadata.name}`).toBe('elsewhere')
    }
    const { template } = named(objects, 'Deployment', 'front-door').spec
    expect(template.metadata.labels).toMatchObject({ tier: 'front', team: 'shop' })
    expect(template.spec.volumes).toContainEqual({ name: 'more', emptyDir: {} })
    expect(template.spec.containers[0].env).toContainEqual({ name: 'EXTRA', value: '1' })
    expect(template.spec.containers[0].volumeMounts).toContainEqual({ name: 'more', mountPath: '/more' })
    expect(named(objects, 'WorkerPool', 'drape-cpu').spec.template.env).toContainEqual({ name: 'EXTRA', value: '2' })
    expect([...objects.map(({ metadata }) => metadata.name)]).toEqual(expect.arrayContaining(['given', 'drape-told']))
  })

  it('sends traces where it is told to, with headers that stay secret', async () => {
    const objects = await render({
      'telemetry.endpoint': 'http://collector:4318',
      'telemetry.headersSecret': 'collector',
      'telemetry.resourceAttributes': { 'deployment.environment': 'test' },
    })
    const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG', 'OTEL_RESOURCE_ATTRIBUTES']
    const given = ['http://collector:4318', '0.1', 'deployment.environment=test']
    expect(names.map((name) => variable(objects, 'api', name))).toEqual(given)
    expect(named(objects, 'WorkerPool', 'drape-cpu').spec.template.env).toContainEqual({
      name: 'OTEL_EXPORTER_OTLP_HEADERS',
      secret: { name: 'collector', key: 'OTEL_EXPORTER_OTLP_HEADERS' },
    })
    expect(variable(await render(), 'api', 'OTEL_EXPORTER_OTLP_ENDPOINT')).toBeUndefined()
  })

  it('reaches a bucket with the credentials that it is given, or as who its pods are', async () => {
    const s3 = { bucket: 'pictures', prefix: 'shop', endpoint: 'https://s3.example', pathStyle: true }
    const given = await render({ 'storage.kind': 's3', 'storage.s3': { ...s3, existingSecret: 'mine' } })
    expect(variable(given, 'api', 'STORAGE_URL')).toBe(
      's3://pictures/shop?region=us-east-1&pathStyle=true&endpoint=https%3A%2F%2Fs3.example',
    )
    expect(JSON.stringify(named(given, 'Deployment', 'drape-controller'))).toContain('"AWS_SECRET_ACCESS_KEY"')
    expect(kinds(given.filter(({ metadata }) => metadata.name === 'drape-objects'))).toEqual(new Set())
    const own = await render({ 'storage.kind': 's3', 'storage.s3': s3 })
    expect(JSON.stringify(own)).not.toContain('AWS_')
  })

  it('trusts the authorities of the house in every process', async () => {
    const objects = await render({ 'trustedCertificates.configMap': 'roots' })
    for (const component of ['api', 'controller']) {
      expect(variable(objects, component, 'NODE_EXTRA_CA_CERTS')).toBe('/etc/drape/certificates/ca.crt')
    }
    expect(named(objects, 'WorkerPool', 'drape-cpu').spec.template.volumes).toContainEqual({
      name: 'certificates',
      mountPath: '/etc/drape/certificates',
      readOnly: true,
      configMap: 'roots',
    })
  })

  it('lets only the pods of the release reach its databases', async () => {
    const objects = await render({ 'networkPolicy.enabled': true })
    for (const name of ['postgres', 'redis']) {
      const { ingress, egress } = named(objects, 'NetworkPolicy', `drape-${name}`).spec
      expect(ingress).toHaveLength(1)
      for (const { podSelector } of ingress[0].from) {
        expect(podSelector.matchLabels['app.kubernetes.io/instance']).toBe('drape')
      }
      expect(egress).toHaveLength(1)
    }
    const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy')
    for (const { metadata, spec } of policies) {
      expect(spec.policyTypes, metadata.name).toEqual(['Ingress', 'Egress'])
      expect(
        spec.egress[0].ports.map(({ port }: Rendered) => port),
        metadata.name,
      ).toEqual([53, 53])
    }
    const pods = objects.flatMap(podsOf).map(({ metadata }) => metadata.labels ?? {})
    const uncovered = pods.filter(
      (labels) =>
        !policies.some(({ spec }) =>
          Object.entries(spec.podSelector.matchLabels).every(([key, value]) => labels[key] === value),
        ),
    )
    expect(uncovered).toEqual([])
  })

  it('can be upgraded to from every release that was written down', async () => {
    const now = await describeRelease(chart?.folder ?? '')
    const releases = await readReleases()
    expect(releases.length).toBeGreaterThan(0)
    for (const { version, byValues } of releases) {
      for (const [file, earlier] of Object.entries(byValues)) {
        expect(findForbiddenChanges(earlier, now.byValues[file] ?? {}), `${file} of ${version}`).toEqual([])
      }
    }
  })

  it('is of the version of the package, as are the charts that belong to it', async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
    for (const path of ['drape', 'drape/charts/crds', 'drape-crds']) {
      const text = await readFile(join(ROOT, 'charts', path, 'Chart.yaml'), 'utf8')
      expect(
        text.match(/^(?:version|appVersion): .*$/gm)?.map((line) => line.split(' ')[1]),
        path,
      ).toEqual(text.includes('appVersion') ? [version, version] : [version])
    }
  })
})

describe('an upgrade', () => {
  const service = (clusterIP: string) => ({ 'Service drape-api': { 'spec.clusterIP': clusterIP } })

  it('fails when something is gone that lasts, or has another field that must not change', () => {
    expect(findForbiddenChanges(service(''), {})).toEqual(['Service drape-api is gone'])
    expect(findForbiddenChanges(service(''), service('None'))).toEqual([
      'Service drape-api: spec.clusterIP was "", is "None"',
    ])
    expect(findForbiddenChanges(service('None'), service('None'))).toEqual([])
  })
})

type Pod = { metadata: { labels?: Record<string, string> }; spec: Rendered }

function podsOf({ kind, metadata, spec }: Rendered): Pod[] {
  if (kind === 'Pod') return [{ metadata: { labels: metadata.labels }, spec }]
  return spec?.template?.spec?.containers ? [spec.template] : []
}

function podSpecsOf(object: Rendered) {
  return podsOf(object).map(({ spec }) => spec)
}

function containersOf(object: Rendered): Rendered[] {
  return podSpecsOf(object).flatMap(({ initContainers = [], containers }) => [...initContainers, ...containers])
}

function imagesOf(object: Rendered): string[] {
  const ofPool = object.kind === 'WorkerPool' ? [object.spec.template.image] : []
  return [...containersOf(object).map(({ image }) => image), ...ofPool]
}

function variable(objects: readonly Rendered[], component: string, name: string): string {
  const [{ env }] = named(objects, 'Deployment', `drape-${component}`).spec.template.spec.containers
  return env.find((each: Rendered) => each.name === name)?.value
}

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
      ...spec.engines.map((engine: string) => `Engine ${engine}`),
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
