import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GROUP } from '../../controller/custom-resource.ts'
import { CUSTOM_RESOURCES } from '../../controller/custom-resources.ts'
import { createEngineReconcile } from '../../controller/engine/reconcile.ts'
import { engines } from '../../controller/engine/resource.ts'
import { createReportInvalid } from '../../controller/invalid-object.ts'
import { presentDefinitions } from '../../controller/present-definitions.ts'
import { retentionPolicies, sweeps } from '../../controller/retention/resource.ts'
import { type Client, createClient } from '../../controller/runtime/client.ts'
import type { Condition } from '../../controller/runtime/conditions.ts'
import { apiVersionOf, type KubernetesObject, type ResourceType } from '../../controller/runtime/resource.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { createPolicyReconcile } from '../../controller/scaling-policy/reconcile.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { commandsOf, runCommands } from '../support/documented-blocks.ts'
import { reasonWithout } from '../support/missing.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'
import { writeProgram } from '../support/write-program.ts'
import { askApiServer } from './ask-api-server.ts'
import { DEFINITIONS } from './kinds.ts'
import { findKubectl } from './kubectl.ts'
import { createTestNamespace, type TestNamespace } from './namespace.ts'
import { findSharedControlPlane } from './shared-control-plane.ts'

/** The commit with the first definitions. */
const FIRST = '51bd51e258caa494bb023495cee31094acdf71d0'
const MIGRATION = commandsOf('charts/drape/docs/upgrade.md', 'Custom resource definitions')
const TYPES = CUSTOM_RESOURCES.map(({ type }) => type)

const git = (...args: string[]) => run('git', args, { cwd: ROOT })
const hasHistory = await git('cat-file', '-e', `${FIRST}^{commit}`).then(
  () => true,
  () => false,
)
const kubectl = await findKubectl()
const controlPlane = await findSharedControlPlane()
const reasons = { sh: '', bash: '', zsh: await reasonWithout('zsh') }

interface Definition extends KubernetesObject {
  readonly spec: { readonly versions: readonly object[] }
  readonly status?: { readonly storedVersions: readonly string[] }
}

interface Stored extends KubernetesObject {
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: { readonly conditions?: readonly Condition[] }
}

const POOL = {
  ...{ engines: ['warp'], replicas: 1, scaling: { mode: 'Fixed' } },
  template: { image: 'drape/worker:test', requests: { cpu: '1' } },
}
const ENGINE = { license: { name: 'MIT', commercialUse: true }, source: { bundled: {} } }
/** Objects of the first definitions that the current ones refuse, and why. */
const REFUSED = [
  { type: engines.type, name: 'test-mode', spec: ENGINE, says: 'the name test-mode is reserved' },
  { type: engines.type, name: 'try.on', spec: ENGINE, says: 'the name must have at most 48 characters and no dots' },
  {
    ...{ type: retentionPolicies.type, name: 'r'.repeat(64), spec: { ttlSeconds: 86_400 } },
    says: 'the name must have at most 63 characters',
  },
  {
    ...{ type: workerPools.type, name: 'unclear', says: 'spec.template.requests.cpu' },
    spec: { ...POOL, template: { ...POOL.template, requests: { cpu: '1 core' } } },
  },
]

describe.skipIf(controlPlane === null || kubectl === null || !hasHistory)('stored objects', () => {
  // The other test files need the current definitions of the real group.
  const group = `definitions-${randomBytes(5).toString('hex')}.example`
  const first: Definition[] = []
  const current: Definition[] = []
  let place: TestNamespace
  let client: Client
  let created: readonly Stored[]

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    client = createClient(place.connection, { fieldManager: 'drape-controller' })
    const files = (await git('ls-tree', '--name-only', FIRST, 'crds/', 'crds/samples/')).match(/\S+\.yaml/g) ?? []
    const texts = await Promise.all(files.map((file) => git('show', `${FIRST}:${file}`)))
    const objects = texts.flatMap((text) => readYaml(inGroup(text))) as Stored[]
    first.push(...(objects.filter(({ kind }) => kind === DEFINITIONS.kind) as unknown as Definition[]))
    current.push(...([...presentDefinitions().values()].flatMap((text) => readYaml(inGroup(text))) as Definition[]))
    await install(first)
    for (const { type } of first.map(named)) await until(() => client.list(type).catch(() => null))
    for (const { apiVersion, kind, metadata, spec } of objects) {
      const type = TYPES.find((each) => each.kind === kind)
      if (type && apiVersion?.startsWith(group)) await create(type, metadata.name, spec)
    }
    for (const { type, name, spec } of REFUSED) await create(type, name, spec)
    created = await listAll('v1alpha1')
  })
  afterAll(async () => {
    for (const { metadata } of current) await client?.delete(DEFINITIONS, metadata)
    await place?.[Symbol.asyncDispose]()
  })

  const inGroup = (text: string) => text.replaceAll(GROUP, group)
  const own = (type: ResourceType, version = 'v1alpha1'): ResourceType => ({ ...type, group, version })
  const named = ({ metadata }: KubernetesObject) => {
    const type = TYPES.find(({ plural }) => metadata.name === `${plural}.${group}`)
    if (type === undefined) throw new Error(`There is no kind for ${metadata.name}`)
    return { type: own(type) }
  }
  const create = (type: ResourceType, name: string, spec: object) =>
    client.create(own(type), { metadata: { namespace: place.namespace, name }, spec })
  /** The objects as they would be created. */
  const createDry = async (type: ResourceType, name: string, spec: object): Promise<Stored> => {
    const { apiVersion, kind, plural } = { ...own(type), apiVersion: apiVersionOf(own(type)) }
    const path = `/apis/${apiVersion}/namespaces/${place.namespace}/${plural}`
    const body = { apiVersion, kind, metadata: { name }, spec }
    return JSON.parse(await askApiServer(place.connection, { method: 'POST', path, query: { dryRun: 'All' }, body }))
  }
  const listAll = async (version: string) => {
    const lists = await Promise.all(
      TYPES.map((type) =>
        client.list<Stored>(own(type, version), { namespace: place.namespace }).catch((error) => {
          // The first definitions have fewer kinds.
          if (error.status === 404) return []
          throw error
        }),
      ),
    )
    return lists.flat()
  }
  const install = async (definitions: readonly Definition[]) => {
    for (const definition of definitions) await client.apply(DEFINITIONS, { ...definition })
  }
  /** The API server uses changed definitions in their order, a moment after it stored them. Pools are the last. */
  const untilPoolsHave = async (field: string, has: boolean) => {
    await until(async () => field in (await createDry(workerPools.type, 'probe', POOL)).spec === has)
  }
  const definitionOf = async ({ plural }: ResourceType) => {
    const found = await client.get<Definition>(DEFINITIONS, { name: `${plural}.${group}` })
    if (found === null) throw new Error(`No definition of ${plural}`)
    return found
  }

  /** Reconciles an object as the controller does, which names its own group; other kinds get a status. */
  const reconcile = async (found: Stored) => {
    const now = () => new Date()
    const controller: Client = {
      ...client,
      apply: (type, object, options) => client.apply(own(type), object, options),
    }
    const reportInvalid = createReportInvalid({ client: controller, record: async () => {}, now })
    const parts = { client: controller, reportInvalid, now, pools: { list: () => [] } }
    const lists = { podsOf: () => [], findJobs: () => [], findNodes: () => [] }
    const reconcilers: Partial<Record<string, (key: string, failures: number) => Promise<unknown>>> = {
      Engine: createEngineReconcile({ ...parts, ...lists, engines: { get: () => found } }),
      ScalingPolicy: createPolicyReconcile({ ...parts, policies: { get: () => found } }),
    }
    const known = reconcilers[found.kind ?? '']
    if (known) await known('', 0)
    else await reportInvalid(typeOf(found), found, 'Not reconciled here.')
  }
  const typeOf = ({ kind }: Stored) => TYPES.find((type) => type.kind === kind) as ResourceType

  it('include some that the current definitions refuse', () => {
    expect(new Set(created.map(({ kind }) => kind))).toEqual(new Set(first.map((each) => named(each).type.kind)))
    expect(created.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(REFUSED.map(({ name }) => name)),
    )
  })

  it.for(['current', 'first'] as const)(
    'are kept, labelled and reconciled after a change to the %s definitions',
    async (to) => {
      await install(to === 'current' ? current : first)
      await untilPoolsHave('sickNodes', to === 'current')
      if (to === 'current')
        for (const { type, name, spec, says } of REFUSED)
          await expect(createDry(type, name.replace(/^r/, 's'), spec), says).rejects.toThrow(says)
      for (const { kind, metadata, spec } of created) {
        const type = own(typeOf({ kind } as Stored))
        const labelled = await client.patch<Stored>(type, metadata, { metadata: { labels: { after: to } } })
        expect(labelled).toMatchObject({ metadata: { uid: metadata.uid, labels: { after: to } }, spec })
        // Sweeps had no status.
        if (labelled === null || (type.plural === sweeps.type.plural && to === 'first')) continue
        await reconcile(labelled)
        const reconciled = await client.get<Stored>(type, metadata)
        expect(
          reconciled?.status?.conditions?.map((condition) => condition.type),
          metadata.name,
        ).toContain('Ready')
        expect(reconciled?.spec).toEqual(labelled.spec)
      }
    },
  )

  it('are migrated to a new storage version by the documented commands', async () => {
    const beside = current.map((definition) => withVersions(definition, 'v1alpha1', 'v1beta1'))
    await install(beside)
    for (const type of TYPES) await until(() => client.list(own(type, 'v1beta1')).catch(() => null))
    const before = await listAll('v1beta1')
    expect(before).toHaveLength(created.length)
    const after = current.map((definition) => withVersions(definition, 'v1beta1'))
    for (const type of TYPES) expect((await definitionOf(type)).status?.storedVersions).toEqual(['v1alpha1', 'v1beta1'])
    await expect(install(after)).rejects.toThrow('storedVersions')

    const { path: folder } = await requestService('folder', null)
    await writeProgram(join(folder, 'bin/kubectl'), `exec ${kubectl} kubectl "$@"`)
    const PATH = [join(folder, 'bin'), process.env.PATH].join(delimiter)
    const env = { ...process.env, PATH, KUBECONFIG: controlPlane?.kubeconfig, HOME: folder }
    await runCommands(MIGRATION, { folder, env, placeholders: { [GROUP]: group } })
    for (const type of TYPES) expect((await definitionOf(type)).status?.storedVersions).toEqual(['v1beta1'])

    await install(after)
    for (const type of TYPES) await until(async () => (await statusOfList(own(type))) === 404)
    // An object that is still stored in the removed version could not be read now.
    const migrated = await listAll('v1beta1')
    expect(migrated.map(contents)).toEqual(before.map(contents))
    for (const object of migrated) {
      const type = own(typeOf(object), 'v1beta1')
      expect(await client.patch(type, object.metadata, { metadata: { labels: { after: 'v1beta1' } } })).not.toBeNull()
    }
  })

  const statusOfList = (type: ResourceType) =>
    client.list(type).then(
      () => 200,
      (error) => error.status,
    )
})

function withVersions(definition: Definition, ...names: readonly string[]): Definition {
  const [version] = definition.spec.versions
  const versions = names.map((name) => ({ ...version, name, storage: name === names.at(-1) }))
  return { ...definition, spec: { ...definition.spec, versions } }
}

function contents({ metadata, ...object }: Stored) {
  const { resourceVersion, managedFields, ...kept } = metadata
  return { ...object, metadata: kept }
}

describe('the documented migration of stored objects', () => {
  const answers = [
    'echo "$*" >>calls',
    'case "$1 $2" in',
    `'get engines.'*) echo '{'; echo 'the connection was lost' >&2; exit 1 ;;`,
    `'get sweeps.'*) printf '{\\n    "items": []\\n}\\n' ;;`,
    `get*) printf '{\\n    "items": [\\n        {}\\n    ]\\n}\\n' ;;`,
    `'replace --filename') grep -q '{}' "$3" && [ "$3" != costbudgets.json ] ;;`,
    'esac',
  ]

  it.for(['sh', 'bash', 'zsh'] as const)(
    'keeps the stored versions of kinds that cannot be listed or replaced in %s',
    async (shell, { skip }) => {
      if (reasons[shell]) skip(reasons[shell])
      const { path: folder } = await requestService('folder', null)
      await writeProgram(join(folder, 'bin/kubectl'), answers.join('\n'))
      const env = { PATH: [join(folder, 'bin'), process.env.PATH].join(delimiter), HOME: folder }
      await run(shell, ['-c', MIGRATION], { cwd: folder, env })
      const calls = (await readFile(join(folder, 'calls'), 'utf8')).trim().split('\n')
      const kindsOf = (start: RegExp) => calls.flatMap((call) => start.exec(call)?.[1] ?? [])
      expect(kindsOf(/^get (\w+)\.v1beta1\./).sort()).toEqual(TYPES.map(({ plural }) => plural).sort())
      expect(kindsOf(/^replace --filename (\w+)/)).toEqual([
        'workerpools',
        'scalingpolicies',
        'costbudgets',
        'retentionpolicies',
      ])
      expect(kindsOf(/^patch crd (\w+)/)).toEqual(['workerpools', 'scalingpolicies', 'retentionpolicies', 'sweeps'])
    },
  )
})
