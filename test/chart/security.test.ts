import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { DENIED_CIDRS } from '../../api/shared/network/addresses.ts'
import { findChart, findValuesFiles, type Rendered, renderWith } from './charts.ts'
import { generatedSecretsOf } from './generated-secrets.ts'
import { containersOf, kinds, named, podSpecsOf, podsOf, variable } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const ALL = { 'crds.upgradeJob.enabled': true, 'crds.keep': false }

describe.skipIf(chart === null)('the chart', () => {
  it('uses a read-only root file system in every container', async () => {
    const containers = (await render(ALL)).flatMap(containersOf)
    expect(containers.length).toBeGreaterThan(15)
    for (const { name, securityContext, resources } of containers) {
      expect(securityContext, name).toMatchObject({ readOnlyRootFilesystem: true, allowPrivilegeEscalation: false })
      expect(resources.requests, name).toMatchObject({ cpu: expect.anything(), memory: expect.anything() })
      expect(resources.limits, name).not.toHaveProperty('cpu')
    }
  })

  it('mounts an API token only in the controller and in the Job that generates Secrets', async () => {
    const pods = (await render()).flatMap(podSpecsOf)
    const withToken = pods.filter(({ automountServiceAccountToken }) => automountServiceAccountToken !== false)
    expect(withToken.map(({ containers }) => containers[0].name).sort()).toEqual(['controller', 'secrets'])
  })

  it('renders no Secret: values name Secrets, and a Job generates the others', async () => {
    for (const files of await findValuesFiles())
      expect(kinds((await chart?.render({ values: files })) ?? [])).not.toContain('Secret')
  })

  it('renders no user or group ID on OpenShift, also in the pods of workers', async () => {
    const withIds = /"(runAsUser|runAsGroup|fsGroup|supplementalGroups)":[^n]/
    const values = ['values-openshift.yaml']
    const objects = (await chart?.render({ values, set: { ...ALL, purge: true } })) ?? []
    expect(objects.flatMap(containersOf).length).toBeGreaterThan(15)
    expect(JSON.stringify(objects)).not.toMatch(withIds)
    expect(JSON.stringify(objects)).not.toContain('securitycontextconstraints')
    expect(JSON.stringify(await render(ALL))).toMatch(withIds)
  })

  it('creates no Secret when all exist', async () => {
    const objects = await render({
      'postgres.enabled': false,
      'redis.enabled': false,
      'database.existingSecret': 'a',
      'queue.existingSecret': 'b',
      'signing.existingSecret': 'c',
      'encryption.existingSecret': 'd',
      'provenance.existingSecret': 'e',
    })
    expect(kinds(objects)).not.toContain('Secret')
    expect(generatedSecretsOf(objects)).toEqual([])
    expect(JSON.stringify(objects)).not.toContain('drape-secrets')
    const [{ env }] = named(objects, 'Deployment', 'drape-api').spec.template.spec.containers
    expect(env).toContainEqual({ name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 'a', key: 'url' } } })
    expect(env).toContainEqual({
      name: 'SIGNING_SECRET',
      valueFrom: { secretKeyRef: { name: 'c', key: 'signing-secret' } },
    })
    const { env: ofWorkers } = named(objects, 'WorkerPool', 'drape-cpu').spec.template
    expect(ofWorkers).toContainEqual({ name: 'REDIS_URL', secret: { name: 'b', key: 'url' } })
  })

  it('requests the configured secrets from the External Secrets Operator', async () => {
    const objects = await render({
      'postgres.enabled': false,
      'externalSecrets.secretStoreRef.name': 'vault',
      'externalSecrets.keys.database': 'prod/drape/database',
    })
    const { spec } = named(objects, 'ExternalSecret', 'drape-database')
    expect(spec).toMatchObject({
      target: { name: 'drape-database' },
      data: [{ secretKey: 'url', remoteRef: { key: 'prod/drape/database' } }],
    })
    expect(() => named(objects, 'Secret', 'drape-database')).toThrow()
  })

  it('requests no wildcard permission, and access to Secrets only in the Jobs that generate and delete them', async () => {
    for (const scope of ['namespace', 'cluster']) {
      const objects = await render({ 'rbac.scope': scope, purge: true, ...ALL })
      const roles = objects.filter(({ kind }) => /Role$/.test(kind))
      expect(kinds(roles)).toEqual(new Set(['Role', 'ClusterRole']))
      for (const { rules } of roles) expect(JSON.stringify(rules)).not.toContain('*')
      const ofSecrets = roles.filter(({ rules }) => JSON.stringify(rules).includes('secrets'))
      expect(ofSecrets.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort()).toEqual([
        ...['Role drape-secrets', 'Role drape-secrets-purge'],
      ])
      const resourceNames = ['database', 'encryption', 'provenance', 'queue', 'signing'].map((name) => `drape-${name}`)
      expect(ofSecrets.flatMap(({ rules }) => rules)).toEqual(
        expect.arrayContaining([
          { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
          { apiGroups: [''], resources: ['secrets'], resourceNames, verbs: ['get'] },
          { apiGroups: [''], resources: ['secrets'], resourceNames, verbs: ['delete'] },
        ]),
      )
    }
    const without = await render({ 'rbac.create': false })
    expect(without.filter(({ kind, metadata }) => /^Role/.test(kind) && /secrets/.test(metadata.name))).toEqual([])
  })

  it('gives each pod only the Secrets that the page explains', async () => {
    const page = await readFile(resolve(import.meta.dirname, '../../charts/drape/docs/secrets.md'), 'utf8')
    const rows = [...page.matchAll(/^\| ([a-z, -]+) \| `?(\w+)`? \| `([\w.-]+)`: `([\w.-]+)` \| .{5,} \|$/gm)]
    const explained = rows.map((row) => row.slice(1, 5).join(' '))
    expect(new Set(explained).size).toBe(explained.length)
    // Each value of the page names a Secret with its own path.
    const named = [...new Set(rows.map(([, , , name]) => name).filter((name) => name.includes('.')))]
    const url = 'https://service.example'
    const held = [
      ...secretsOf(await render()),
      ...secretsOf(
        await render({
          ...Object.fromEntries(named.map((path) => [path, path])),
          'storage.kind': 's3',
          'storage.s3.bucket': 'images',
          'config.captcha.verifyUrl': url,
          'config.analytics.url': url,
          'config.smtp.from': 'a@b.example',
          'dashboard.enabled': true,
          'dashboard.url': 'https://ops.example',
          'dashboard.oidc.issuer': url,
          'dashboard.oidc.clientId': 'drape',
          'telemetry.endpoint': url,
          'safetyList.url': url,
        }),
      ),
    ]
    expect([...new Set(held)].sort()).toEqual(explained.sort())
  })

  it('adds no permission for retention policies to the default cluster roles', async () => {
    const roles = (await render({ 'rbac.scope': 'cluster' })).filter(({ kind }) => kind === 'ClusterRole')
    const aggregated = roles.filter(({ metadata }) => /aggregate-to/.test(JSON.stringify(metadata.labels)))
    expect(aggregated).toHaveLength(2)
    expect(JSON.stringify(aggregated)).not.toContain('retentionpolicies')
    const { metadata, rules } = named(roles, 'ClusterRole', 'shop-drape-retention')
    expect(JSON.stringify(metadata.labels)).not.toContain('aggregate')
    expect(rules[0]).toMatchObject({ resources: ['retentionpolicies'], verbs: expect.arrayContaining(['create']) })
  })

  it('restricts its controller to its namespace by default', async () => {
    const rolesOf = (objects: readonly Rendered[]) =>
      objects.filter(
        ({ kind, metadata }) => /Role$/.test(kind) && metadata.labels?.['app.kubernetes.io/component'] === 'controller',
      )
    const blind = await render({ 'rbac.nodes': false })
    expect(kinds(rolesOf(blind))).toEqual(new Set(['Role']))
    expect(variable(blind, 'controller', 'WATCH_NODES')).toBe('false')
    const seeing = await render()
    expect(variable(seeing, 'controller', 'WATCH_NODES')).toBe('true')
    expect(named(seeing, 'ClusterRole', 'shop-drape-controller-nodes').rules).toEqual([
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
    ])
    expect(kinds(rolesOf(await render({ 'rbac.scope': 'cluster' })))).toEqual(new Set(['Role', 'ClusterRole']))
  })

  it('lets only the pods of the release reach its databases', async () => {
    const objects = await render()
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

  it('lets only pods that fetch URLs of callers reach the internet, and none a private or metadata address there', async () => {
    const server = { 'networkPolicy.apiServerCidrs': ['198.51.100.1/32'] }
    const objects = await render({ 'telemetry.endpoint': 'http://collector:4318', ...server })
    const everything = ['0.0.0.0/0', '::/0']
    for (const component of ['api', 'workers', 'controller', 'secrets', 'migrations', 'tests', 'postgres', 'redis']) {
      const blocks = blocksOf(objects, component)
      const open = blocks.filter(({ cidr }) => everything.includes(cidr))
      expect(
        open.map(({ cidr }) => cidr),
        component,
      ).toEqual(['api', 'workers'].includes(component) ? everything : [])
      for (const { except = [] } of open) expect(except.length).toBeGreaterThan(5)
      const denied = open.flatMap(({ except = [] }) => except)
      if (open.length === 0) continue
      expect(denied).toEqual(
        expect.arrayContaining([
          ...['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10', '127.0.0.0/8', '169.254.0.0/16'],
          ...['fc00::/7', 'fe80::/10', 'fd00:ec2::254/128', '::1/128', '64:ff9b::/96'],
        ]),
      )
    }
    // Private addresses of services are reached, but never those of metadata services.
    for (const { cidr, except = [] } of blocksOf(objects, 'controller').filter(({ cidr }) => cidr === 'fc00::/7'))
      expect(except, cidr).toContain('fd00:ec2::254/128')
  })

  it('lets API and workers reach the services of the values, and the API its mail server', async () => {
    const portsOf = (objects: readonly Rendered[], component: string) =>
      named(objects, 'NetworkPolicy', `drape-${component}`).spec.egress.flatMap(({ ports }: Rendered) =>
        ports.map(({ port }: Rendered) => port),
      )
    const plain = await render()
    for (const port of [465, 587, 8200, 8202]) {
      for (const component of ['api', 'workers']) expect(portsOf(plain, component)).not.toContain(port)
    }
    const set = {
      'config.captcha': { verifyUrl: 'https://captcha.example:8200/verify', existingSecret: 'captcha' },
      safetyList: { url: 'http://list.default.svc:8202/check', existingSecret: 'list' },
      'config.smtp': { existingSecret: 'mail', from: 'privacy@example.com' },
    }
    const objects = await render(set)
    expect(portsOf(objects, 'api')).toEqual(expect.arrayContaining([8200, 465, 587]))
    expect(portsOf(objects, 'api')).not.toContain(8202)
    expect(portsOf(objects, 'workers')).toContain(8202)
    for (const port of [8200, 465]) expect(portsOf(objects, 'workers')).not.toContain(port)
    expect(portsOf(objects, 'controller')).toEqual(portsOf(plain, 'controller'))
    for (const [component, port] of [
      ['api', 8200],
      ['workers', 8202],
    ] as const) {
      expect(blocksOf(objects, component, port).map(({ cidr }) => cidr)).toContain('10.0.0.0/8')
      expect(blocksOf(objects, component, port).map(({ cidr }) => cidr)).not.toContain('0.0.0.0/0')
    }
    const mail = blocksOf(objects, 'api', 465).find(({ cidr }) => cidr === '0.0.0.0/0')
    expect(mail?.except).toEqual(DENIED_CIDRS.filter((denied) => !denied.includes(':')))
    const given = await render({
      ...set,
      'networkPolicy.serviceCidrs': ['203.0.113.7/32'],
      'networkPolicy.smtpCidrs': ['203.0.113.9/32'],
    })
    expect(blocksOf(given, 'api', 8200)).toEqual([{ cidr: '203.0.113.7/32' }])
    expect(blocksOf(given, 'api', 587)).toEqual([{ cidr: '203.0.113.9/32' }])
  })

  it('allows the controller only the API server, databases and storage', async () => {
    const external = { 'postgres.enabled': false, 'database.existingSecret': 'db' }
    const portsOf = (objects: readonly Rendered[]) =>
      named(objects, 'NetworkPolicy', 'drape-controller').spec.egress.flatMap(({ ports }: Rendered) =>
        ports.map(({ port }: Rendered) => port),
      )
    expect(new Set(portsOf(await render()))).toEqual(new Set([53, 443, 5432, 6379, 6443]))
    const given = await render({ ...external, 'networkPolicy.postgresCidrs': ['203.0.113.7/32'] })
    const { egress } = named(given, 'NetworkPolicy', 'drape-controller').spec
    const ofPostgres = egress.find(({ ports }: Rendered) => ports[0].port === 5432)
    expect(ofPostgres.to).toEqual([{ ipBlock: { cidr: '203.0.113.7/32' } }, { namespaceSelector: {} }])
    const server = await render({ 'networkPolicy.apiServerCidrs': ['198.51.100.1/32'] })
    for (const component of ['controller', 'secrets'])
      expect(blocksOf(server, component, 6443)).toEqual([{ cidr: '198.51.100.1/32' }])
    const anywhere = blocksOf(await render(), 'controller', 6443).filter(({ cidr }) =>
      /^(0\.0\.0\.0|::)\/0$/.test(cidr),
    )
    expect(anywhere.map(({ except }) => except)).toEqual([
      DENIED_CIDRS.filter((cidr) => !cidr.includes(':')),
      DENIED_CIDRS.filter((cidr) => cidr.includes(':')),
    ])
  })

  it('opens private networks to fetching pods only where fetchAllowCidrs names them, and metadata never', async () => {
    const allowed = [
      '10.0.0.0/8',
      '100.64.0.0/10',
      '169.0.0.0/8',
      'fc00::/7',
      'fd00::/16',
      'FD20:00CE:0::/48',
      '0.0.0.0/0',
    ]
    const blocks = blocksOf(await render({ 'config.fetchAllowCidrs': allowed }), 'api', 80)
    expect(blocks).toContainEqual({ cidr: '10.0.0.0/8' })
    expect(blocks).toContainEqual({ cidr: '100.64.0.0/10', except: ['100.100.100.200/32'] })
    expect(blocks).toContainEqual({ cidr: '169.0.0.0/8', except: ['169.254.0.0/16'] })
    expect(blocks).toContainEqual({ cidr: 'fd00::/16', except: ['fd00:ec2::254/128', 'fd00:ec2::23/128'] })
    expect(blocks).toContainEqual({ cidr: 'FD20:00CE:0::/48', except: ['fd20:ce::254/128'] })
    for (const { cidr, except = [] } of blocks) {
      if (cidr === '0.0.0.0/0') expect(except).toContain('169.254.0.0/16')
      if (cidr === 'fc00::/7') expect(except).toContain('fd20:ce::254/128')
    }
  })

  it.each([
    ['config.fetchAllowCidrs', '169.254.169.254/32', '169.254.0.0/16'],
    ['config.fetchAllowCidrs', '169.254.0.0/16', '169.254.0.0/16'],
    ['config.fetchAllowCidrs', 'fd00:ec2:0:0::254/128', 'fd00:ec2::254/128'],
    ['config.fetchAllowCidrs', 'febf::1/128', 'fe80::/10'],
    ['networkPolicy.storageCidrs', '169.254.170.2/32', '169.254.0.0/16'],
  ])('refuses %s with %s, which is within a denied network', async (name, cidr, denied) => {
    const says = `${name} contains ${cidr}, which is never reached, because it is within ${denied}`
    await expect(render({ [name]: [cidr] })).rejects.toThrow(says)
  })

  it('denies the networks that the processes always refuse', async () => {
    const text = await readFile(
      resolve(import.meta.dirname, '../../charts/drape/templates/network-policies.yaml'),
      'utf8',
    )
    const [, listed = ''] = /define "drape\.deniedCidrs"[^(]*\(list ([^)]*)\)/.exec(text) ?? []
    expect(listed.replaceAll('"', '').split(' ')).toEqual(DENIED_CIDRS)
  })

  it('lets only the named sources scrape metrics and read the demand', async () => {
    const everyPod = [{ namespaceSelector: {} }]
    const sourcesOf = (objects: readonly Rendered[], component: string) =>
      named(objects, 'NetworkPolicy', `drape-${component}`)
        .spec.ingress.filter(({ ports }: Rendered) => ports[0].port === 9090)
        .map(({ from }: Rendered) => from)
    const metricsFrom = [{ podSelector: {} }]
    const limited = await render({ 'networkPolicy.metricsFrom': metricsFrom })
    for (const component of ['api', 'controller', 'workers']) {
      expect(sourcesOf(limited, component)).toEqual([metricsFrom])
      expect(sourcesOf(await render(), component)).toEqual([everyPod])
    }
  })

  it('renders no network policy when disabled', async () => {
    expect(kinds(await render({ 'networkPolicy.enabled': false }))).not.toContain('NetworkPolicy')
  })
})

/** Pod, variable, Secret and key of everything secret that pods get. */
function secretsOf(objects: readonly Rendered[]): string[] {
  return objects.flatMap((object) => {
    if (object.kind === 'WorkerPool')
      return object.spec.template.env.flatMap(({ name, secret }: Rendered) =>
        secret ? [`worker ${name} ${secret.name} ${secret.key}`] : [],
      )
    const component = object.metadata.labels?.['app.kubernetes.io/component']
    const pod = component === 'tests' ? object.metadata.name.replace('drape-', '') : component
    return podSpecsOf(object).flatMap(({ initContainers = [], containers, volumes = [] }) => [
      ...[...initContainers, ...containers].flatMap(({ env = [] }, index) =>
        env.flatMap(({ name, valueFrom }: Rendered) => {
          const key = valueFrom?.secretKeyRef
          return key ? [`${pod}${index < initContainers.length ? ', wait' : ''} ${name} ${key.name} ${key.key}`] : []
        }),
      ),
      ...volumes.flatMap(({ secret }: Rendered) =>
        (secret?.items ?? []).map(({ key }: Rendered) => `${pod} file ${secret.secretName} ${key}`),
      ),
    ])
  })
}

interface Block {
  readonly cidr: string
  readonly except?: readonly string[]
}

/** The blocks of addresses that pods of a component may reach, over all ports or one. */
function blocksOf(objects: readonly Rendered[], component: string, port?: number): Block[] {
  const { egress } = named(objects, 'NetworkPolicy', `drape-${component}`).spec
  const rules = egress.filter(
    ({ ports }: Rendered) => port === undefined || ports.some((each: Rendered) => each.port === port),
  )
  return rules.flatMap(({ to }: Rendered) => to.flatMap(({ ipBlock }: Rendered) => ipBlock ?? []))
}
