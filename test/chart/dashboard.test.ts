import { describe, expect, it } from 'vitest'
import { findChart, notesWith, type Rendered, renderWith } from './charts.ts'
import { kinds, named, variable } from './objects.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const notes = notesWith(chart)
const ON = { 'dashboard.enabled': true }
const POLICIES = { 'networkPolicy.enabled': true }
const FROM = [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } }]
const EXPOSED = {
  ...ON,
  'dashboard.ingress.enabled': true,
  'dashboard.ingress.host': 'ops.example',
  'networkPolicy.dashboardFrom': FROM,
}

describe.skipIf(chart === null)("the operators' dashboard in the chart", () => {
  it('is disabled by default', async () => {
    const objects = await render({ host: 'tryon.example', ...POLICIES })
    expect(variable(objects, 'api', 'DASHBOARD_PORT')).toBeUndefined()
    expect(containerPortsOf(objects)).toEqual({ http: 8080, probes: 9090 })
    const ways = objects.filter(({ kind }) => ['Service', 'Ingress', 'NetworkPolicy'].includes(kind))
    expect(ways.filter((object) => /dashboard|8081/.test(JSON.stringify(object)))).toEqual([])
  })

  it('has its own port and Service inside the cluster', async () => {
    const objects = await render(ON)
    expect(containerPortsOf(objects)).toEqual({ http: 8080, probes: 9090, dashboard: 8081 })
    expect(variable(objects, 'api', 'DASHBOARD_PORT')).toBe('8081')
    expect(variable(objects, 'api', 'DASHBOARD_HOST')).toBe('0.0.0.0')
    const { spec } = named(objects, 'Service', 'drape-api-dashboard')
    expect(spec).toMatchObject({ type: 'ClusterIP', ports: [{ port: 80, targetPort: 'dashboard' }] })
  })

  it.for([
    { exposure: 'ingress', 'api.service.type': 'LoadBalancer' },
    { exposure: 'httpRoute', 'httpRoute.parentRefs': [{ name: 'gateway' }] },
  ])('is nowhere that callers come to, with %o', async (exposed) => {
    const objects = await render({ host: 'tryon.example', ...exposed, ...ON })
    expect(named(objects, 'Service', 'drape-api').spec.ports.map(({ targetPort }: Rendered) => targetPort)).toEqual([
      'http',
    ])
    const ways = objects.filter(({ kind }) => kind === 'Ingress' || kind === 'HTTPRoute')
    expect(ways).toHaveLength(1)
    expect(JSON.stringify(ways)).not.toContain('dashboard')
  })

  it('is exposed by its own Ingress, only on its host and with TLS', async () => {
    const objects = await render({ host: 'tryon.example', ...EXPOSED })
    const { spec } = named(objects, 'Ingress', 'drape-api-dashboard')
    expect(spec.tls).toEqual([{ hosts: ['ops.example'] }])
    expect(spec.rules.map(({ host }: Rendered) => host)).toEqual(['ops.example'])
    expect(spec.rules[0].http.paths[0].backend.service).toEqual({
      name: 'drape-api-dashboard',
      port: { name: 'dashboard' },
    })
    const hosts = named(objects, 'Ingress', 'drape-api').spec.rules.map(({ host }: Rendered) => host)
    expect(hosts).toEqual(['tryon.example'])
  })

  it.for([
    [ON, '', '0'],
    [EXPOSED, 'https://ops.example', '1'],
    [{ ...EXPOSED, 'dashboard.ingress.tls.enabled': false }, 'http://ops.example', '1'],
    [{ ...EXPOSED, 'dashboard.url': 'https://ops.example:8443/' }, 'https://ops.example:8443', '1'],
    [{ ...ON, 'dashboard.url': 'https://ops.example', 'dashboard.proxyHops': 2 }, 'https://ops.example', '2'],
    [{ ...EXPOSED, 'dashboard.proxyHops': 0 }, 'https://ops.example', '0'],
  ] as const)('with %o knows its address %s and %s proxies before it', async ([set, url, hops]) => {
    const objects = await render(set)
    expect(variable(objects, 'api', 'DASHBOARD_URL')).toBe(url)
    expect(variable(objects, 'api', 'DASHBOARD_PROXY_HOPS')).toBe(hops)
    expect(variable(objects, 'api', 'DASHBOARD_PASSWORD_SIGN_IN')).toBe('true')
    expect(variable(objects, 'api', 'DASHBOARD_SECOND_FACTOR')).toBe('admin')
  })

  it('gets the sign-in provider, with its secret from a Secret', async () => {
    const oidc = {
      'dashboard.oidc.issuer': 'https://id.example:8443/realms/staff',
      'dashboard.oidc.clientId': 'drape',
      'dashboard.oidc.operators': ['groups=drape-operators', 'role=admin'],
      'dashboard.oidc.roles': ['groups=drape-admins:admin'],
    }
    const policies = { ...POLICIES, 'networkPolicy.dashboardFrom': FROM }
    const objects = await render({ ...EXPOSED, ...oidc, ...policies, 'dashboard.oidc.existingSecret': 'ours' })
    expect(readOidc(objects)).toEqual({
      OIDC_ISSUER: 'https://id.example:8443/realms/staff',
      OIDC_CLIENT_ID: 'drape',
      OIDC_CLIENT_SECRET: { secretKeyRef: { name: 'ours', key: 'client-secret' } },
      OIDC_SCOPE: 'openid email profile',
      OIDC_OPERATORS: 'groups=drape-operators,role=admin',
      OIDC_ROLES: 'groups=drape-admins:admin',
      OIDC_TRUST_EMAIL: 'false',
    })
    const { egress } = named(objects, 'NetworkPolicy', 'drape-api').spec
    expect(egress.flatMap(({ ports }: Rendered) => ports.map(({ port }: Rendered) => port))).toContain(8443)

    expect(readOidc(await render({ ...EXPOSED, ...oidc }))).not.toHaveProperty('OIDC_CLIENT_SECRET')
    const store = { 'externalSecrets.secretStoreRef.name': 'vault', 'externalSecrets.keys.oidc': 'drape/oidc' }
    const brought = await render({ ...EXPOSED, ...oidc, ...store })
    expect(readOidc(brought).OIDC_CLIENT_SECRET).toEqual({
      secretKeyRef: { name: named(brought, 'ExternalSecret', 'drape-oidc').metadata.name, key: 'client-secret' },
    })
    expect(readOidc(await render(EXPOSED))).toEqual({})
  })

  it('accepts connections only from named sources by network policy', async () => {
    const portsFrom = (objects: readonly Rendered[]) =>
      named(objects, 'NetworkPolicy', 'drape-api').spec.ingress.map(({ ports, from }: Rendered) => [
        ports.map(({ port }: Rendered) => port),
        from,
      ])
    expect(portsFrom(await render({ ...ON, ...POLICIES })).map(([ports]: [number[]]) => ports)).toEqual([
      [8080],
      [9090],
    ])
    const named8081 = portsFrom(await render({ ...EXPOSED, ...POLICIES, 'networkPolicy.dashboardFrom': FROM }))
    expect(named8081).toContainEqual([[8081], FROM])
    const others = await render({ ...ON, ...POLICIES, 'networkPolicy.dashboardFrom': FROM })
    const elsewhere = others.filter(({ kind, metadata }) => kind === 'NetworkPolicy' && metadata.name !== 'drape-api')
    expect(JSON.stringify(elsewhere)).not.toContain('8081')
  })

  it('describes access and sign-in in the notes, and warns without TLS', async () => {
    const forwarded = await notes(ON)
    expect(forwarded).toContain('port-forward service/drape-api-dashboard 8081:80')
    expect(forwarded).toContain('operator create --email')
    expect(forwarded).not.toContain('operators reach the dashboard without TLS')
    const open = await notes({ ...EXPOSED, 'dashboard.ingress.tls.enabled': false })
    expect(open).toContain("URL of the operators' dashboard: http://ops.example")
    expect(open).toContain('WARNING: operators connect to the dashboard without TLS')
    expect(await notes({})).not.toContain('operator create')
  })

  it('adds no object to a release without a dashboard', async () => {
    const [without, withIt] = [await render(), await render(EXPOSED)]
    const names = (objects: readonly Rendered[]) => objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`)
    const more = names(withIt).filter((name) => !names(without).includes(name))
    expect(more.sort()).toEqual(['Ingress drape-api-dashboard', 'Service drape-api-dashboard'])
    expect(kinds(without)).not.toContain('Ingress')
  })
})

/** The variables of OpenID Connect that the API has, and whence. */
function readOidc(objects: readonly Rendered[]): Record<string, unknown> {
  const [{ env }] = named(objects, 'Deployment', 'drape-api').spec.template.spec.containers
  const ours = env.filter(({ name }: Rendered) => name.startsWith('OIDC_'))
  return Object.fromEntries(ours.map(({ name, value, valueFrom }: Rendered) => [name, valueFrom ?? value]))
}

function containerPortsOf(objects: readonly Rendered[]): Record<string, number> {
  const [{ ports }] = named(objects, 'Deployment', 'drape-api').spec.template.spec.containers
  return Object.fromEntries(ports.map(({ name, containerPort }: Rendered) => [name, containerPort]))
}
