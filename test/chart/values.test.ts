import { existsSync } from 'node:fs'
import { appendFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { BUILT_IN_ENGINES } from '../../api/shared/engines/engine-catalogue.ts'
import { CUSTOM_RESOURCES } from '../../controller/definitions/custom-resources.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { CHARTS } from '../../scripts/charts/build.ts'
import { documentChart } from '../../scripts/charts/document.ts'
import { readValues, type Value } from '../../scripts/charts/values.ts'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { requestService } from '../support/request-service.ts'
import { findChart, findValuesFiles } from './charts.ts'

const chart = await findChart('drape')
const definitions = await findChart('drape-crds')
const valuesFiles = await findValuesFiles()
const otherNames: Readonly<Record<string, string>> = parse(
  await readFile(join(ROOT, 'charts/drape/files/other-names.yaml'), 'utf8'),
)
const DEFINITIONS = CUSTOM_RESOURCES.map(({ type }) => `${type.plural}.${type.group}`)

/** As far as the page's examples are read here. */
interface Application {
  readonly spec: {
    readonly source: {
      readonly path: string
      readonly helm: { readonly valueFiles: string[]; readonly valuesObject: object }
    }
  }
}
interface Release {
  readonly spec: {
    readonly chartRef: object
    readonly install: { readonly crds: string }
    readonly upgrade: { readonly crds: string }
    readonly values: object
  }
}

const ACCELERATED = { executionProvider: 'cuda', accelerator: { resource: 'nvidia.com/gpu' } }
const DASHBOARD = {
  'dashboard.enabled': true,
  'dashboard.ingress.enabled': true,
  'dashboard.ingress.host': 'ops.example',
}

describe.skipIf(chart === null)('the chart source in the repository', () => {
  const source = join(ROOT, 'charts/drape')
  const template = async (folder: string, ...more: string[]) =>
    (await chart?.helm('template', 'drape', folder, '--namespace', 'shop', ...more)) ?? ''
  const templateWith = async (folder: string, values: object) => {
    const file = join((await requestService('folder', null)).path, 'values.yaml')
    await writeFile(file, JSON.stringify(values))
    return template(folder, '--include-crds', '--values', file)
  }

  it('renders like the built chart, with all CRDs', async () => {
    const existingSecret = 'own'
    const values = {
      postgres: { enabled: false },
      redis: { enabled: false },
      database: { existingSecret },
      queue: { existingSecret },
      signing: { existingSecret },
      encryption: { existingSecret },
      provenance: { existingSecret },
    }
    const rendered = await templateWith(source, values)
    expect(rendered).toBe(await templateWith(chart?.folder ?? '', values))
    for (const name of DEFINITIONS) expect(rendered).toContain(`\n  name: ${name}\n`)
  })

  it('renders, as does the chart of the CRDs, from the files in Git alone', async () => {
    const { path } = await requestService('folder', null)
    const listed = await run('git', ['-C', ROOT, 'ls-files', '-z', '-co', '--exclude-standard', 'charts', 'crds'])
    const files = listed.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)))
    for (const name of files) await cp(join(ROOT, name), join(path, name), { verbatimSymlinks: true })
    for (const rendered of [
      await template(join(path, 'charts/drape'), '--include-crds'),
      await template(join(path, 'charts/drape-crds')),
    ]) {
      for (const name of DEFINITIONS) expect(rendered).toContain(`\n  name: ${name}\n`)
    }
  })

  it('prints all CRDs for kubectl apply', async () => {
    const shown = (await chart?.helm('show', 'crds', source)) ?? ''
    for (const name of DEFINITIONS) expect(shown).toContain(`\n  name: ${name}\n`)
  })

  it('omits CRDs without crds.install', async () => {
    expect(await template(source, '--include-crds')).toContain('\nkind: CustomResourceDefinition\n')
    expect(await template(source, '--include-crds', '--set', 'crds.install=false')).not.toContain(
      '\nkind: CustomResourceDefinition\n',
    )
  })

  it('is packaged with CRDs and without files of editors and Git', async () => {
    const { path } = await requestService('folder', null)
    const folder = join(path, 'drape')
    await cp(source, folder, { recursive: true, dereference: true })
    await mkdir(join(folder, '.git'))
    const left = ['.git/HEAD', 'values.yaml~', '.values.yaml.swp', 'charts/crds/crds/engines.yaml.orig', 'drape-1.tgz']
    for (const name of left) await writeFile(join(folder, name), '')
    await chart?.helm('package', folder, '--destination', path, '--version', '0.1.0')
    const packed = (await run('tar', ['tzf', join(path, 'drape-0.1.0.tgz')])).split('\n')
    const files = CUSTOM_RESOURCES.map(({ type }) => `drape/charts/crds/crds/${type.plural}.yaml`)
    expect(packed).toEqual(expect.arrayContaining(files))
    expect(packed.filter((name) => left.includes(name.replace('drape/', '')))).toEqual([])
  })

  it('renders with the values of the examples for Argo CD and Flux', async () => {
    const page = await readFile(join(source, 'docs/gitops.md'), 'utf8')
    const examples = [...page.matchAll(/^```yaml\n(apiVersion: (?:argoproj|source).*?)^```$/gms)].flatMap(([, text]) =>
      readYaml(text),
    )
    const [argo, repository, flux] = examples as [Application, { kind: string; metadata: object }, Release]
    const { path, helm } = argo.spec.source
    const { chartRef, install, upgrade, values } = flux.spec
    expect({ kind: repository.kind, ...repository.metadata }).toEqual({ ...chartRef, namespace: 'drape' })
    expect([install.crds, upgrade.crds]).toEqual(['CreateReplace', 'CreateReplace'])
    expect(helm.valueFiles.filter((name) => !existsSync(join(ROOT, path, name)))).toEqual([])
    for (const rendered of [
      await templateWith(join(ROOT, path), helm.valuesObject),
      await templateWith(source, values),
    ]) {
      expect(rendered).toContain('tryon.example.com')
      expect(rendered).toContain('image: registry.example/')
    }
  })
})

describe('the values of a chart', () => {
  it.for(CHARTS)('%s match between schema and values.yaml', async (name) => {
    for (const [path, text] of await documentChart(name)) {
      expect(await readFile(join(ROOT, path), 'utf8'), `${path}: run scripts/chart document`).toBe(text)
    }
  })

  it('are documented when the schema of the chart does not have them yet', async () => {
    const { path } = await requestService('folder', null)
    const folder = join(path, 'drape')
    await cp(join(ROOT, 'charts/drape'), folder, { recursive: true })
    await appendFile(join(folder, 'values.yaml'), '# A new value.\nnewValue: 1\n')
    const documented = await documentChart('drape', folder)
    const { properties } = JSON.parse(documented.get('charts/drape/values.schema.json') ?? '')
    expect(properties.newValue).toMatchObject({ description: 'A new value.' })
  })

  it('require a comment each', () => {
    expect(() => readValues('# One.\none: 1\ntwo: 2\n')).toThrow('two has no comment')
  })

  it('are parsed with their comments', () => {
    const text =
      '# Outer.\nouter:\n  # Inner,\n  # of two lines.\n  # @schema {"minimum": 1}\n  inner: 2\n  # Free.\n  # @schema {"additionalProperties": true}\n  free: { a: 1 }\n'
    const [{ children }] = readValues(text)
    expect(children).toEqual<Value[]>([
      {
        path: ['outer', 'inner'],
        description: 'Inner, of two lines.',
        rules: { minimum: 1 },
        fallback: 2,
        children: null,
      },
      {
        path: ['outer', 'free'],
        description: 'Free.',
        rules: { additionalProperties: true },
        fallback: { a: 1 },
        children: null,
      },
    ])
  })
})

describe('the pages for operators', async () => {
  const folder = join(ROOT, 'charts/drape')
  const values = readValues(await readFile(join(folder, 'values.yaml'), 'utf8'))
  const pages = (await readdir(join(folder, 'docs'))).map((name) => join('docs', name))

  it.for([...pages, 'README.md'])('%s names only existing values', async (page) => {
    const text = await readFile(join(folder, page), 'utf8')
    const named = [...text.matchAll(/(?:`|--set(?:-json|-string)? )([a-z][A-Za-z0-9]*(?:\.[A-Za-z0-9*]+)+)/g)].map(
      ([, path]) => path,
    )
    const ours = named.filter((path) => values.some((value) => value.path[0] === path.split('.')[0]))
    // Every pool has the values of cpu.
    const known = ours.filter((path) => isKnown(values, path.replace(/^pools\.[a-z0-9]+/, 'pools.cpu').split('.')))
    expect(known).toEqual(ours)
  })

  it.for([...pages, 'README.md'])('%s links only to existing pages', async (page) => {
    const text = await readFile(join(folder, page), 'utf8')
    const links = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, link]) => join(folder, dirname(page), link))
    expect(links.filter((link) => !existsSync(link))).toEqual([])
  })
})

/** Below a value that may hold anything every path is known; `*` is any name. */
function isKnown(values: readonly Value[], [name, ...rest]: readonly string[]): boolean {
  return values
    .filter(({ path }) => name === '*' || path.at(-1) === name)
    .some(({ children }) => rest.length === 0 || children === null || isKnown(children, rest))
}

describe.skipIf(chart === null)('Helm', () => {
  it.for(valuesFiles.map((files) => [files.join() || 'no values', files] as const))(
    'has nothing to complain about with %s',
    async ([, files]) => {
      const given = files.flatMap((file) => ['--values', join(chart?.folder ?? '', file)])
      expect(await chart?.helm('lint', '--strict', chart.folder, ...given)).toContain(
        '1 chart(s) linted, 0 chart(s) failed',
      )
    },
  )

  it('accepts every engine that the API accepts as the default', async () => {
    const schema = JSON.parse(await readFile(join(ROOT, 'charts/drape/values.schema.json'), 'utf8'))
    const { pattern } = schema.properties.config.properties.defaultEngine
    expect(
      [...BUILT_IN_ENGINES, 'studio-2', 'Imagen', 'a.b', 'x'.repeat(49)].filter((name) => name.match(pattern)),
    ).toEqual([...BUILT_IN_ENGINES, 'studio-2'])
  })

  it('lints the CRD chart without errors', async () => {
    expect(await definitions?.helm('lint', '--strict', definitions.folder)).toContain('0 chart(s) failed')
  })

  it.for([
    [{ 'metrics.objectives.start.seconds': 7 }, "at '/metrics/objectives/start/seconds'"],
    [{ 'metrics.objectives.success.percent': 100 }, "at '/metrics/objectives/success/percent'"],
    [{ 'metrics.objectives.success.percentByClass': { gold: 99 } }, "invalid propertyName 'gold'"],
    [{ 'metrics.objectives.start.secondsByEngine': { 'a"}': 10 } }, `invalid propertyName 'a"}'`],
    [{ 'api.replica': 3 }, "at '/api': additional properties 'replica' not allowed"],
    [{ replicas: 3 }, "additional properties 'replicas' not allowed"],
    [{ 'api.replicas': 'three' }, "at '/api/replicas': got string, want integer"],
    [{ 'storage.kind': 'nfs' }, "at '/storage/kind': value must be one of 'pvc', 's3'"],
    [
      { 'dashboard.url': 'https://ops.example/drape' },
      "at '/dashboard/url': 'https://ops.example/drape' does not match",
    ],
    [
      { 'dashboard.oidc.issuer': 'http://id.example' },
      "at '/dashboard/oidc/issuer': 'http://id.example' does not match",
    ],
    [{ 'dashboard.oidc.operators': ['admin'] }, "at '/dashboard/oidc/operators/0': 'admin' does not match"],
    [{ 'dashboard.service.type': 'LoadBalancer' }, "at '/dashboard': additional properties 'service' not allowed"],
    [{ 'config.defaultEngine': 'Imagen' }, "at '/config/defaultEngine': 'Imagen' does not match pattern"],
    [{ 'pools.cpu.queues': ['train'] }, "at '/pools/cpu/queues/0': value must be one of 'try-on', 'prepare'"],
  ] as const)('says what is wrong with %o', async ([set, says]) => {
    await expect(chart?.render({ set })).rejects.toThrow(says)
  })

  it('accepts a separately applied engine as the default and in a pool', async () => {
    const set = {
      'config.defaultEngine': 'studio',
      'pools.cpu.engines': ['warp', 'studio'],
      exportedEngines: ['studio'],
    }
    const text = JSON.stringify(await chart?.render({ set }))
    expect(text).toContain('{"name":"DEFAULT_ENGINE","value":"studio"}')
    expect(text).toContain('{"name":"ENGINES","value":"studio,warp"}')
  })

  it('accepts accelerators beside a volume of one node where that node has them, or where spot nodes are not', async () => {
    for (const set of [
      { 'pools.a100': ACCELERATED, nodeSelector: { gpu: 'yes' } },
      { 'pools.a100': { ...ACCELERATED, capacity: { nodeSelector: { gpu: 'yes' } } }, nodeSelector: { gpu: 'yes' } },
      { 'pools.a100': ACCELERATED, 'storage.pvc.accessMode': 'ReadWriteMany' },
      { 'pools.cpu.capacity': { type: 'spot' } },
      { 'pools.cpu.capacity': { type: 'spot' }, 'rbac.nodes': false, 'rbac.scope': 'cluster' },
    ])
      expect(await chart?.render({ set })).toBeDefined()
  })

  it('accepts additional global values of a parent chart', async () => {
    await chart?.render({ set: { 'global.team': 'shop' } })
  })

  it.for([
    [{ 'database.existingSecret': 'mine' }, 'two databases: set postgres.enabled to false'],
    [{ 'postgres.enabled': false }, 'no database: set database.existingSecret or postgres.enabled'],
    [{ 'queue.existingSecret': 'mine' }, 'two queues: set redis.enabled to false'],
    [{ 'queue.roles': true }, 'queue.roles has no URLs: set queue.existingSecret'],
    [{ 'redis.enabled': false }, 'no queue: set queue.existingSecret'],
    [{ exposure: 'ingress' }, 'exposure ingress requires a host: set host'],
    [{ exposure: 'httpRoute', host: 'a.example' }, 'exposure httpRoute requires host and httpRoute.parentRefs'],
    [{ 'storage.kind': 's3' }, 'storage.kind s3 requires a bucket: set storage.s3.bucket'],
    [{ 'storage.s3.bucket': 'images' }, 'two storages: set storage.kind to s3'],
    [{ 'pools.cpu.mode': 'Fixed', 'pools.cpu.replicas': 0 }, 'pools.cpu: mode Fixed requires replicas above 0'],
    [{ 'pools.cpu.engines': ['other'] }, 'pools.cpu.engines: the engine other is missing in engines'],
    [{ 'pools.cpu.executionProvider': 'cuda' }, 'pools.cpu: executionProvider cuda requires an accelerator'],
    [{ 'pools.a100': { engines: ['other'] } }, 'pools.a100.engines: the engine other is missing in engines'],
    [{ 'pools.a100': { like: 'gpu' } }, 'pools.a100: the pool gpu that it is like does not exist'],
    [{ 'pools.a': {}, 'pools.b': { like: 'c' }, 'pools.c': { like: 'a' } }, 'pools.b: the pool c that it is like is'],
    [{ 'pools.a100': ACCELERATED }, 'pools.a100 needs nodes of its own, but the ReadWriteOnce volume'],
    [
      { 'pools.cpu.capacity': { nodeSelector: { a: 'b' } }, nodeSelector: { a: 'c' } },
      'pools.cpu needs nodes of its own, but the ReadWriteOnce volume',
    ],
    [{ 'pools.cpu.capacity': { type: 'spot' }, 'rbac.nodes': false }, 'pools.cpu runs on spot nodes'],
    [{ 'pools.cpu.tiers': [{ name: 'a', type: 'spot' }], 'rbac.nodes': false }, 'pools.cpu runs on spot nodes'],
    [{ 'openshift.enabled': true, 'admissionPolicy.enabled': true }, 'set admissionPolicy.allowPodTemplate'],
    [
      { fullnameOverride: 'f'.repeat(40), [`pools.${'a'.repeat(12)}`]: {} },
      'the name of its WorkerPool would have 53 characters',
    ],
    [{ 'rbac.create': false, 'rbac.scope': 'cluster' }, 'rbac.scope cluster requires rbac.create'],
    [{ 'externalSecrets.keys.signing': 'a' }, 'externalSecrets.keys requires a store'],
    [
      { 'api.autoscaling.enabled': true, 'api.autoscaling.minReplicas': 20 },
      'minReplicas must not be above maxReplicas',
    ],
    [
      { 'dashboard.ingress.enabled': true, 'dashboard.ingress.host': 'a.b' },
      'dashboard.ingress.enabled requires the dashboard',
    ],
    [{ 'dashboard.enabled': true, features: ['guide'] }, 'add dashboard to features'],
    [{ 'dashboard.enabled': true, 'dashboard.ingress.enabled': true }, 'set dashboard.ingress.host'],
    [{ ...DASHBOARD, host: 'ops.example' }, 'dashboard.ingress.host must differ from host'],
    [
      { ...DASHBOARD, 'dashboard.url': 'https://other.example' },
      'the host of dashboard.url must be dashboard.ingress.host',
    ],
    [{ ...DASHBOARD, 'networkPolicy.enabled': true }, 'set networkPolicy.dashboardFrom'],
    [{ ...DASHBOARD, 'dashboard.passwordSignIn': false }, 'the dashboard has no sign-in method'],
    [{ ...DASHBOARD, 'dashboard.oidc.issuer': 'https://id.example' }, 'set dashboard.oidc.clientId'],
    [{ ...DASHBOARD, 'dashboard.oidc.clientId': 'drape' }, 'require a provider: set dashboard.oidc.issuer'],
    [
      { 'dashboard.oidc': { issuer: 'https://id.example', clientId: 'drape' } },
      /requires the dashboard.*requires a redirect address: set dashboard\.url/s,
    ],
  ] as const)('refuses %o early', async ([set, says]) => {
    await expect(chart?.render({ set })).rejects.toThrow(says)
  })

  it.for(Object.entries(otherNames))('refuses %s, a name of other charts, and names %s', async ([name, ours]) => {
    const says = `${name} is a name of other charts: set ${ours}`
    await expect(chart?.render({ set: { [name]: true } })).rejects.toThrow(says)
    const values = readValues(await readFile(join(ROOT, 'charts/drape/values.yaml'), 'utf8'))
    for (const path of ours.split(/, | or /)) expect(isKnown(values, path.split('.')), path).toBe(true)
  })

  it('reports all conflicts at once', async () => {
    const refused = chart?.render({ set: { 'redis.enabled': false, 'postgres.enabled': false } })
    await expect(refused).rejects.toThrow(/no database.*no queue/s)
  })

  it('rejects a copy of the CRD chart without the link to the CRDs', async () => {
    const { path } = await requestService('folder', null)
    const filter = (from: string) => !from.endsWith('/definitions')
    await cp(join(ROOT, 'charts/drape-crds'), path, { recursive: true, filter })
    await expect(chart?.helm('template', 'drape', path)).rejects.toThrow('kubectl apply --server-side -f crds')
  })

  it('rejects Kubernetes below the minimum version, and accepts the minimum', async () => {
    await expect(chart?.render({ more: ['--kube-version', '1.29.9'] })).rejects.toThrow('incompatible with Kubernetes')
    await chart?.render({ more: ['--kube-version', '1.30.0'] })
  })
})
