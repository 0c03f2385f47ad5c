import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { schemaOfDefinition } from '../../scripts/charts/definition-schema.ts'
import { renderChart } from '../../scripts/charts/render.ts'
import { requestService } from '../support/request-service.ts'
import { findChart, type Rendered, renderWith } from './charts.ts'
import { imagesOf, kinds, named, podSpecsOf, variable } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const OPERATORS = ['--api-versions', 'monitoring.coreos.com/v1']

describe.skipIf(chart === null)('the chart', () => {
  it('renders Prometheus Operator resources when available or configured', async () => {
    const monitors = ['ServiceMonitor', 'PodMonitor', 'PrometheusRule']
    for (const kind of monitors) expect(kinds(await render())).not.toContain(kind)
    expect([...kinds(await render({}, OPERATORS))]).toEqual(expect.arrayContaining(monitors))
    const forced = await render({ 'metrics.monitors': 'always' })
    expect([...kinds(forced)]).toEqual(expect.arrayContaining(monitors))
    const never = await render({ 'metrics.monitors': 'never' }, OPERATORS)
    for (const kind of monitors) expect(kinds(never)).not.toContain(kind)
  })

  it('gives the API and the workers their settings', async () => {
    const objects = await render({
      'config.fetchAllowPorts': [443],
      'config.captcha.verifyUrl': 'https://captcha.example/siteverify',
      'config.captcha.existingSecret': 'captcha',
    })
    const { containers } = named(objects, 'Deployment', 'drape-api').spec.template.spec
    const values = Object.fromEntries(containers[0].env.map(({ name, value }: Rendered) => [name, value]))
    expect(values).toMatchObject({
      LEAD_RETENTION_DAYS: '730',
      FETCH_ALLOW_PORTS: '443',
      CAPTCHA_VERIFY_URL: 'https://captcha.example/siteverify',
    })
    const [pool] = objects.filter(({ kind }) => kind === 'WorkerPool')
    expect(pool.spec.template.env).toContainEqual({ name: 'FETCH_ALLOW_PORTS', value: '443' })
  })

  it('links the runbook of each alert', async () => {
    const objects = await render({ 'metrics.rules.runbookBaseUrl': 'https://docs.example/drape' }, OPERATORS)
    const { spec } = named(objects, 'PrometheusRule', 'drape-rules')
    const alerts = spec.groups.flatMap(({ rules }: Rendered) => rules).filter(({ alert }: Rendered) => alert)
    expect(alerts.length).toBeGreaterThan(10)
    for (const { annotations } of alerts) {
      expect(annotations.runbook_url).toMatch(/^https:\/\/docs\.example\/drape\/runbooks\/[a-z-]+\.md$/)
    }
  })

  it('provides each dashboard to Grafana', async () => {
    const names = (await readdir(join(chart?.folder ?? '', 'dashboards'))).sort()
    expect(names.length).toBeGreaterThanOrEqual(4)
    const objects = await render({ 'dashboards.label': 'find_me' })
    const maps = objects.filter(({ metadata }) => metadata.labels?.find_me === '1')
    expect(maps.flatMap(({ data }) => Object.keys(data)).sort()).toEqual(names)
    for (const { data, metadata } of maps) {
      expect(metadata.annotations).toMatchObject({ grafana_folder: 'Drape' })
      for (const text of Object.values<string>(data)) expect(JSON.parse(text)).toHaveProperty('panels')
    }
    const byOperator = await render({ 'dashboards.instanceSelector': { matchLabels: { dashboards: 'grafana' } } })
    expect(byOperator.filter(({ kind }) => kind === 'GrafanaDashboard')).toHaveLength(names.length)
    const others = byOperator.filter(({ kind }) => kind === 'ConfigMap').map(({ metadata }) => metadata.name)
    expect(others).toEqual(['drape-postgres-scripts'])
  })

  it('links the runbooks in dashboards', async () => {
    const dashboardsOf = async (values: Record<string, unknown>) =>
      (await render(values)).flatMap(({ kind, metadata, data }) =>
        kind === 'ConfigMap' && metadata.labels?.grafana_dashboard === '1' ? Object.values<string>(data) : [],
      )
    const pagesOf = (text: string) =>
      JSON.parse(text).templating.list.find(({ name }: { name: string }) => name === 'runbooks').query
    const plain = await dashboardsOf({})
    expect(plain).toHaveLength(5)
    expect(new Set(plain.map(pagesOf))).toEqual(new Set(['runbooks']))
    const published = await dashboardsOf({ 'metrics.rules.runbookBaseUrl': 'https://docs.example/drape' })
    expect(new Set(published.map(pagesOf))).toEqual(new Set(['https://docs.example/drape/runbooks']))
  })

  it('completes the pods of API and controller with podSpec, and places all pods but workers with nodeSelector', async () => {
    const podSpec = { priorityClassName: 'high', topologySpreadConstraints: [], securityContext: { fsGroup: 7 } }
    const tolerations = [{ key: 'a', operator: 'Exists' }]
    const objects = await render({ 'api.podSpec': podSpec, nodeSelector: { a: 'b' }, tolerations })
    const { spec } = named(objects, 'Deployment', 'drape-api').spec.template
    expect(spec).toMatchObject({ ...podSpec, securityContext: { runAsNonRoot: true, fsGroup: 7 } })
    for (const pod of objects.flatMap(podSpecsOf)) expect(pod).toMatchObject({ nodeSelector: { a: 'b' }, tolerations })
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

  it('does not restart databases for a new chart version', async () => {
    const { path } = await requestService('folder', null)
    const version = ['--version', '9.9.9', '--app-version', '9.9.9']
    await chart?.helm('package', chart.folder, '--destination', path, ...version)
    const later = await renderChart(join(path, 'drape-9.9.9.tgz'))
    const pods = (objects: readonly Rendered[]) => ({
      postgres: named(objects, 'StatefulSet', 'drape-postgres').spec.template,
      redis: named(objects, 'Deployment', 'drape-redis').spec.template,
    })
    expect(pods(later)).toEqual(pods(await render()))
    expect(named(later, 'Deployment', 'drape-api').spec.template.spec.containers[0].image).toBe('drape/api:9.9.9')
  })

  it('co-locates pods that share a single-node volume, and spreads others', async () => {
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

  it('omits replicas of autoscaled workloads', async () => {
    const objects = await render({ 'api.autoscaling.enabled': true, 'api.autoscaling.latencyTarget': '500m' })
    expect(named(objects, 'Deployment', 'drape-api').spec).not.toHaveProperty('replicas')
    const { metrics } = named(objects, 'HorizontalPodAutoscaler', 'drape-api').spec
    expect(metrics.map(({ type }: Rendered) => type)).toEqual(['Resource', 'Pods'])
    expect(kinds(await render())).not.toContain('HorizontalPodAutoscaler')
  })

  it('migrates by a Job during the first install and before each upgrade', async () => {
    const jobsOf = (objects: readonly Rendered[]) =>
      objects.filter(({ kind, metadata }) => kind === 'Job' && metadata.name.includes('migrations'))
    const first = jobsOf(await render())
    expect(first.map(({ metadata }) => metadata.annotations)).toEqual([undefined])
    const later = jobsOf(await render({}, ['--is-upgrade']))
    expect(later.map(({ metadata }) => metadata.annotations?.['helm.sh/hook'])).toEqual(['pre-upgrade'])
    const waits = (objects: readonly Rendered[]) =>
      ['api', 'controller'].map(
        (name) => named(objects, 'Deployment', `drape-${name}`).spec.template.spec.initContainers[0].args,
      )
    const check = ['check', 'migrations', '--wait-seconds', '600']
    expect(waits(await render())).toEqual([check, check])
    const byPods = await render({ 'migrations.mode': 'initContainer' })
    expect(jobsOf(byPods)).toEqual([])
    expect(waits(byPods)).toEqual([
      ['migrate', '--wait-seconds', '600', '--await-legal-holds', '--create-roles'],
      check,
    ])
    expect(jobsOf(await render({ 'migrations.mode': 'manual' }))).toEqual([])
  })

  it('has at least 7 tests, which use only images of Drape', async () => {
    const tests = (await render()).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test')
    expect(tests.length).toBeGreaterThanOrEqual(7)
    // Uninstalling does not know of them.
    for (const { metadata } of tests)
      expect(metadata.annotations?.['helm.sh/hook-delete-policy']).toContain('hook-succeeded')
    for (const image of tests.flatMap(imagesOf)) expect(image).toMatch(/^drape\//)
    expect(kinds(await render({ 'tests.enabled': false }))).not.toContain('Pod')
  })

  it('renders extra objects and common labels', async () => {
    const objects = await render({
      commonLabels: { team: 'shop' },
      namespaceOverride: 'elsewhere',
      'api.extraEnv': [{ name: 'EXTRA', value: '1' }],
      'api.extraVolumes': [{ name: 'more', emptyDir: {} }],
      'api.extraVolumeMounts': [{ name: 'more', mountPath: '/more' }],
      'api.podLabels': { tier: 'front' },
      'migrations.extraEnv': [{ name: 'EXTRA', value: '3' }],
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
    const { template } = named(objects, 'Deployment', 'drape-api').spec
    expect(template.metadata.labels).toMatchObject({ tier: 'front', team: 'shop' })
    expect(template.spec.volumes).toContainEqual({ name: 'more', emptyDir: {} })
    expect(template.spec.containers[0].env).toContainEqual({ name: 'EXTRA', value: '1' })
    expect(template.spec.initContainers[0].env).toContainEqual({ name: 'EXTRA', value: '3' })
    expect(template.spec.containers[0].volumeMounts).toContainEqual({ name: 'more', mountPath: '/more' })
    expect(named(objects, 'WorkerPool', 'drape-cpu').spec.template.env).toContainEqual({ name: 'EXTRA', value: '2' })
    expect([...objects.map(({ metadata }) => metadata.name)]).toEqual(expect.arrayContaining(['given', 'drape-told']))
  })

  it('exports traces to the configured endpoint, with headers from a Secret', async () => {
    const objects = await render({
      'telemetry.endpoint': 'http://collector:4318',
      'telemetry.headersSecret': 'collector',
      'telemetry.resourceAttributes': { 'deployment.environment': 'test' },
    })
    const names = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG', 'OTEL_RESOURCE_ATTRIBUTES']
    const given = ['http://collector:4318', '0.1', 'deployment.environment=test']
    for (const component of ['api', 'controller'])
      expect(names.map((name) => variable(objects, component, name))).toEqual(given)
    expect(named(objects, 'WorkerPool', 'drape-cpu').spec.template.env).toContainEqual({
      name: 'OTEL_EXPORTER_OTLP_HEADERS',
      secret: { name: 'collector', key: 'OTEL_EXPORTER_OTLP_HEADERS' },
    })
    expect(variable(await render(), 'api', 'OTEL_EXPORTER_OTLP_ENDPOINT')).toBeUndefined()
  })

  it('accesses a bucket with given credentials or with pod identity', async () => {
    const endpoints = { endpoint: 'https://s3.example', publicEndpoint: 'https://images.example' }
    const s3 = { bucket: 'images', prefix: 'shop', ...endpoints, pathStyle: true }
    const given = await render({ 'storage.kind': 's3', 'storage.s3': { ...s3, existingSecret: 'mine' } })
    expect(variable(given, 'api', 'STORAGE_URL')).toBe(
      's3://images/shop?region=us-east-1&pathStyle=true&endpoint=https%3A%2F%2Fs3.example&publicEndpoint=https%3A%2F%2Fimages.example',
    )
    expect(JSON.stringify(named(given, 'Deployment', 'drape-controller'))).toContain('"AWS_SECRET_ACCESS_KEY"')
    expect(kinds(given.filter(({ metadata }) => metadata.name === 'drape-objects'))).toEqual(new Set())
    const own = await render({ 'storage.kind': 's3', 'storage.s3': s3 })
    expect(JSON.stringify(own)).not.toContain('AWS_')
  })

  it('trusts private CAs in every process', async () => {
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

  it('gives a pool the resource claims, the rollout and the pod template of the values', async () => {
    const gpu = {
      accelerator: { resourceClaims: [{ name: 'gpu', resourceClaimTemplateName: 'mig' }] },
      rollout: { maxSurge: 0, maxUnavailable: 1 },
      podTemplate: { spec: { schedulerName: 'volcano' } },
    }
    const objects = (await chart?.render({ values: ['values-gpu.yaml'], set: { 'pools.gpu': gpu } })) ?? []
    const { spec } = named(objects, 'WorkerPool', 'drape-gpu')
    expect(spec).toMatchObject({ ...gpu, accelerator: {} })
    // The default resource would not be allowed beside claims.
    expect(spec.accelerator).toEqual(gpu.accelerator)
  })

  it('gives each pool a value for every field of a WorkerPool', async () => {
    const set = { mode: 'Fixed', accelerator: { resource: 'nvidia.com/gpu' }, capacity: { type: 'spot' } }
    const more = { rollout: { maxSurge: 1 }, podTemplate: { spec: { schedulerName: 'volcano' } } }
    const tiers = [{ name: 'spot', type: 'spot' }, { name: 'on-demand' }]
    const given = { 'storage.pvc.accessMode': 'ReadWriteMany', 'pools.cpu': { ...set, ...more, tiers } }
    const { spec } = named(await render(given), 'WorkerPool', 'drape-cpu')
    expect(spec.tiers).toEqual(tiers)
    // The chart leaves this field to the operator.
    const fields = Object.keys(schemaOfDefinition('WorkerPool').properties as object).filter(
      (name) => name !== 'paused',
    )
    const missing = fields.filter((field) => spec[field] === undefined || spec[field] === null)
    expect(missing, 'fields that pools.yaml or pools.cpu of values.yaml lack').toEqual([])
  })

  it('creates a pool of any name, based on the values of another pool', async () => {
    const a100 = {
      like: 'gpu',
      engines: ['studio'],
      image: 'drape/worker-cuda:7',
      scaling: { bounds: { min: 0, max: 2 }, target: { oldestWaitSeconds: 20 } },
      capacity: { nodeSelector: { gpu: 'a100' } },
    }
    const set = { 'pools.a100': a100, 'pools.twin': {}, exportedEngines: ['studio'] }
    const more = { 'pools.gpu.warmupSeconds': 1200, 'pools.gpu.enabled': false }
    const objects = (await chart?.render({ values: ['values-gpu.yaml'], set: { ...set, ...more } })) ?? []
    const ofPools = objects.filter(({ kind }) => kind === 'WorkerPool').map(({ metadata }) => metadata.name)
    expect(ofPools.sort()).toEqual(['drape-a100', 'drape-cpu', 'drape-twin'])
    const { spec } = named(objects, 'WorkerPool', 'drape-a100')
    expect(spec).toMatchObject({
      engines: ['studio'],
      warmup: { timeoutSeconds: 1200 },
      accelerator: { resource: 'nvidia.com/gpu', count: 1 },
      priority: 0,
      capacity: a100.capacity,
      template: { image: 'drape/worker-cuda:7', requests: { memory: '8Gi' } },
    })
    // Not joined with those of gpu.
    expect(named(objects, 'ScalingPolicy', 'drape-a100').spec).toEqual(a100.scaling)
    for (const kind of ['WorkerPool', 'ScalingPolicy']) {
      const text = JSON.stringify(named(objects, kind, 'drape-twin').spec)
      expect(text).toBe(JSON.stringify(named(objects, kind, 'drape-cpu').spec).replaceAll('drape-cpu', 'drape-twin'))
    }
    expect(variable(objects, 'api', 'ENGINES')).toBe('warp,studio,mock')
    const without = await render({ 'pools.a100': { enabled: false } })
    expect(kinds(without.filter(({ metadata }) => metadata.name === 'drape-a100'))).toEqual(new Set())
  })
})
