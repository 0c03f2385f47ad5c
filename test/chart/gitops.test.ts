import { readdir, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { SECRETS } from '../../controller/generated-secrets/ensure-secrets.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { findHelm } from '../../scripts/charts/helm.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { findKubectl } from '../cluster/kubectl.ts'
import { createTestNamespace, type TestNamespace } from '../cluster/namespace.ts'
import { installDefinitions } from '../cluster/samples.ts'
import { findSharedControlPlane } from '../cluster/shared-control-plane.ts'
import { commandsOf, runCommands } from '../support/documented-blocks.ts'
import { requestService } from '../support/request-service.ts'
import { until } from '../support/until.ts'
import { writeProgram } from '../support/write-program.ts'
import { findChart, findValuesFiles, type Rendered, renderWith } from './charts.ts'
import { createKubectl, type Kubectl } from './dry-run.ts'
import { type HookJobs, startHookJobs } from './hook-jobs.ts'

const chart = await findChart('drape')
const render = renderWith(chart)
const valuesFiles = await findValuesFiles()
const source = join(ROOT, 'charts/drape')
const controlPlane = await findSharedControlPlane()
const program = await findKubectl()
const canApply = controlPlane?.hasControllers && chart !== null && program !== null
const WAVE = 'argocd.argoproj.io/sync-wave'

describe.skipIf(chart === null)('the chart for GitOps', () => {
  it.for(valuesFiles.map((files) => [files.join() || 'no values', files] as const))(
    'renders the same bytes twice with %s',
    async ([, files]) => {
      const values = files.flatMap((file) => ['--values', join(source, file)])
      const once = () => chart?.helm('template', 'drape', source, '--namespace', 'shop', ...values)
      expect(await once()).toBe(await once())
    },
  )

  it('renders deterministically, and looks up only replicas set by an autoscaler', async () => {
    const folder = join(source, 'templates')
    const found: string[] = []
    for (const name of await readdir(folder)) {
      const text = await readFile(join(folder, name), 'utf8')
      const calls = text.matchAll(
        /\b(lookup|rand\w+|uuidv4|genPrivateKey|gen\w*Cert|genCA|now|getHostByName)\b(?= ["\d(])/g,
      )
      for (const [, call] of calls) found.push(`${name}: ${call}`)
    }
    expect(found).toEqual(['pools.yaml: lookup'])
    expect(await readFile(join(folder, 'pools.yaml'), 'utf8')).toMatch(
      /eq \$pool\.mode "External" \}\}[^{]*\{\{[^{]*\{\{[^{]*lookup/,
    )
  })

  it('applies definitions and Secrets before the migration, and the migration before the rest', async () => {
    const external = {
      'externalSecrets.secretStoreRef.name': 'vault',
      'externalSecrets.keys.database': 'drape/database',
    }
    const objects = await render({ 'postgres.enabled': false, ...external }, ['--include-crds'])
    const waveOf = ({ metadata }: Rendered) => Number(metadata.annotations?.[WAVE] ?? 0)
    const inOrder = ['CustomResourceDefinition', 'ExternalSecret', 'Job', 'Deployment']
    const main = objects.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === undefined)
    const waves = inOrder.map((kind) => [...new Set(main.filter((object) => object.kind === kind).map(waveOf))])
    expect(waves).toEqual([[-2], [-2], [-1], [0]])
    // The bundled Postgres starts with the rest: a migration before it would wait forever.
    const [job] = (await render()).filter(({ kind, metadata }) => kind === 'Job' && /migrations/.test(metadata.name))
    expect(waveOf(job)).toBe(0)
  })

  it('gives each hook the sync wave of its weight', async () => {
    const objects = await render({ purge: true, 'crds.upgradeJob.enabled': true, 'crds.keep': false })
    const hooks = objects.filter(({ metadata }) => /install|delete/.test(metadata.annotations?.['helm.sh/hook'] ?? ''))
    expect(hooks.length).toBeGreaterThanOrEqual(16)
    for (const { metadata } of hooks)
      expect(metadata.annotations?.[WAVE]).toBe(metadata.annotations?.['helm.sh/hook-weight'])
  })

  it('renames a Job when its pod changes, because a Job is immutable', async () => {
    const jobs = async (set: Record<string, unknown>) =>
      (await render(set)).filter(({ kind }) => kind === 'Job').map(({ metadata }) => metadata.name)
    const before = await jobs({})
    expect(before).toHaveLength(2)
    const after = await jobs({ 'global.imagePullSecrets': ['mine'] })
    expect(after.filter((name) => before.includes(name))).toEqual([])
  })
})

/** As the page for GitOps does it. */
describe.skipIf(!canApply)('the chart applied without Helm', () => {
  let place: TestNamespace
  let kubectl: Kubectl
  let jobs: HookJobs
  let env: NodeJS.ProcessEnv

  beforeAll(async () => {
    if (controlPlane === null) return
    place = await createTestNamespace(controlPlane)
    await installDefinitions(place.client)
    kubectl = await createKubectl(place)
    const { path } = await requestService('folder', null)
    await writeProgram(join(path, 'helm'), `exec ${await findHelm()} "$@"`)
    await writeProgram(join(path, 'kubectl'), `exec ${program} kubectl "$@"`)
    env = { ...process.env, PATH: `${path}${delimiter}${process.env.PATH}`, KUBECONFIG: controlPlane.kubeconfig }
    jobs = startHookJobs({ controlPlane, connection: place.connection }, place.namespace)
  })
  afterAll(async () => {
    jobs?.close()
    await place?.[Symbol.asyncDispose]()
  })

  const follow = (before = '') =>
    runCommands(`${before}${commandsOf('charts/drape/docs/gitops.md', 'kubectl and kustomize')}`, {
      folder: ROOT,
      placeholders: { '--namespace drape': `--namespace ${place.namespace}` },
      env,
    })
  const template = async () => readYaml(await follow('kubectl() { cat; }\n')) as Rendered[]
  const readSecrets = () =>
    place.client.list<KubernetesObject & { data: object }>(SECRETS, { namespace: place.namespace })

  it('gets its Secrets from the Job, and shows no difference when applied again', async () => {
    await follow()
    const secrets = await until(async () => {
      const found = await readSecrets()
      return found.length === 5 && found
    })
    expect(secrets.map(({ metadata }) => metadata.name).sort()).toEqual([
      ...['drape-database', 'drape-encryption', 'drape-provenance', 'drape-queue', 'drape-signing'],
    ])
    const again = await template()
    const differences = await Promise.all(again.map((object) => difference(object)))
    expect(differences.filter((each) => each !== null)).toEqual([])
    await follow()
    expect((await readSecrets()).map(({ data }) => data)).toEqual(secrets.map(({ data }) => data))
  })

  it('shows a change as a difference (control)', async () => {
    const [api] = (await template()).filter(
      ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'drape-api',
    )
    const spec = { ...api.spec, replicas: 3 }
    expect(await difference({ ...api, spec })).toMatch(/^Deployment drape-api/)
  })

  /** What `kubectl diff --server-side` would print: the live object against the object after an apply. */
  async function difference(object: Rendered): Promise<string | null> {
    const [live, merged] = [await kubectl.get(object), await kubectl.apply(object, { dryRun: true })].map(comparable)
    return live === merged ? null : `${object.kind} ${object.metadata.name}\n- ${live}\n+ ${merged}`
  }
})

/** Without what the server writes by itself and, as for the status, at any time. */
function comparable({ status: _, metadata, ...object }: Rendered): string {
  const {
    managedFields: __,
    resourceVersion: ___,
    ...rest
  } = metadata as Rendered['metadata'] & Record<string, unknown>
  return JSON.stringify({ ...object, metadata: rest })
}
