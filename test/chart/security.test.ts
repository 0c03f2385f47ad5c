import { describe, expect, it } from 'vitest'
import { findChart, type Rendered, renderWith } from './charts.ts'
import { containersOf, kinds, named, podSpecsOf, podsOf, variable } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const ALL = { 'pools.gpu.enabled': true, 'crds.upgradeJob.enabled': true, 'crds.keep': false }

describe.skipIf(chart === null)('the chart', () => {
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
})
