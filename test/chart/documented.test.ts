import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CUSTOM_RESOURCES } from '../../controller/definitions/custom-resources.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { packChart } from '../../scripts/charts/build.ts'
import { findHelm } from '../../scripts/charts/helm.ts'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { findKubectl } from '../cluster/kubectl.ts'
import { blocksOf, commandsOf } from '../support/documented-blocks.ts'
import { requestService } from '../support/request-service.ts'
import { findChart } from './charts.ts'

const DOCS = 'charts/drape/docs'
const chart = await findChart('drape')
const kubectl = await findKubectl()

/** A block of values by its page and its number among the YAML of the page. */
type Place = readonly [page: string, index: number]
const yamlOf = ([page, index]: Place) =>
  blocksOf(`${DOCS}/${page}`).filter(({ language }) => language === 'yaml')[index].text

/** Blocks of values, with the values that they build on, and what they lead to. */
const VALUES: readonly {
  readonly place: Place
  readonly on?: readonly (Place | string)[]
  readonly contains: string
}[] = [
  { place: ['install.md', 0], contains: 's3://drape-images' },
  { place: ['install.md', 1], on: [['install.md', 0]], contains: 'controller=drape_controller' },
  { place: ['dashboard.md', 0], contains: 'host: "drape.ops.example"' },
  { place: ['dashboard.md', 1], on: [['dashboard.md', 0]], contains: 'https://login.example.com/realms/staff' },
  { place: ['gpu.md', 0], on: ['values-gpu.yaml'], contains: 'NVIDIA-A100-SXM4-40GB' },
  { place: ['gpu.md', 1], on: ['values-gpu.yaml'], contains: 'resourceClaimTemplateName: mig-2g' },
  { place: ['nodes.md', 0], on: ['values-gpu.yaml'], contains: 'whenUnsatisfiable: DoNotSchedule' },
  { place: ['nodes.md', 1], on: ['values-gpu.yaml'], contains: 'kueue.x-k8s.io/queue-name: gpu' },
  { place: ['nodes.md', 3], contains: 'kubernetes.io/metadata.name: keda' },
  { place: ['gitops.md', 2], contains: 'example.com/secrets: 2026-11' },
]

/**
 * Pages whose commands of Helm no cluster runs. `helm test` needs one: test/cluster/install runs it. `kubectl` makes its objects of
 * real files without a cluster.
 */
const COMMANDS: readonly (readonly [page: string, heading: string, index: number, contains: RegExp])[] = [
  ['charts/drape/README.md', 'drape', 0, /^(?=[\s\S]*tryon\.example\.com)[\s\S]*storageClassName: "standard"/],
  ['README.md', '4. On your cluster: Helm', 0, /tryon\.example\.com/],
  ['charts/drape-crds/README.md', 'drape-crds', 0, /kind: CustomResourceDefinition/],
  ['charts/drape/docs/install.md', 'From a Git repository', 0, /tryon\.example\.com/],
  ['charts/drape/docs/gpu.md', 'From a cluster to a picture', 1, /registry\.example\/drape\/worker-cuda:0\.1\.0/],
  ['docs/provenance.md', 'Use a trusted certificate', 2, /tls\.crt: YQ==[\s\S]*key: tls\.key\s+name: drape-signer/],
]
const HELM = `helm() {
  local command=$1
  shift
  case $command in
    install | upgrade) "$HELM" template "\${@/--install/--include-crds}" ;;
    test) "$HELM" template "$1" ./charts/drape | grep 'helm.sh/hook: test' ;;
    *) echo "not known: helm $command" >&2; return 1 ;;
  esac
}
kubectl() { "$KUBECTL" kubectl "$@" --dry-run=client --output yaml; }
scripts/chart() { :; } # packed by this test
scripts/images() { :; } # test/cluster/install/images.test.ts builds them`

describe.skipIf(chart === null || kubectl === null)('the examples in the chart documentation', () => {
  it.each(VALUES)('render: values $place', async ({ place, on = [], contains }) => {
    const { path } = await requestService('folder', null)
    const files = await Promise.all(
      [...on, place].map(async (one, i) => {
        if (typeof one === 'string') return join(ROOT, 'charts/drape', one)
        const file = join(path, `${i}.yaml`)
        await writeFile(file, yamlOf(one))
        return file
      }),
    )
    const values = files.flatMap((file) => ['--values', file])
    const folder = chart?.folder ?? ''
    const rendered = await chart?.helm('template', 'drape', folder, '--namespace', 'drape', ...values)
    const usual = await chart?.helm('template', 'drape', folder, '--namespace', 'drape')
    expect([rendered?.includes(contains), usual?.includes(contains)], contains).toEqual([true, false])
  })

  it('name a field of the definitions that Argo CD ignores', async () => {
    const { ignoreDifferences } = readYaml(yamlOf(['gitops.md', 3]))[0] as { ignoreDifferences: Ignored[] }
    for (const { group, kind, jsonPointers } of ignoreDifferences) {
      const type = CUSTOM_RESOURCES.find((one) => one.type.kind === kind)?.type
      const file = join(chart?.folder ?? '', `charts/crds/crds/${type?.plural}.yaml`)
      const [definition] = readYaml(await readFile(file, 'utf8')) as Definition[]
      expect(definition.spec.group).toBe(group)
      const fields = definition.spec.versions[0].schema.openAPIV3Schema
      for (const pointer of jsonPointers) expect(fieldOf(fields, pointer.split('/').slice(1))).toBeDefined()
    }
  })

  it('copy the files of an engine with a pod on the claim that its Engine names', async () => {
    const [command] =
      /^sed .*(?= \| kubectl)/m.exec(commandsOf(`${DOCS}/gpu.md`, 'From a cluster to a picture', 2)) ?? []
    const [pod] = readYaml(await run('sh', ['-c', command ?? ''], { cwd: ROOT })) as Pod[]
    expect([pod.metadata.name, pod.spec.volumes]).toEqual([
      'models',
      [{ name: 'objects', persistentVolumeClaim: { claimName: 'models' } }],
    ])
    const resource = await readFile(join(ROOT, 'scripts/engines/kubernetes.py'), 'utf8')
    expect(resource).toContain('persistentVolumeClaim: {{ claimName: models, subPath: {name} }}')
  })

  it.each(COMMANDS)('render: Helm on %s below %s, block %i', async (page, heading, index, contains) => {
    const { path } = await requestService('folder', null)
    for (const name of ['drape', 'drape-crds'] as const) await packChart(name, join(path, '.cache/charts'))
    await run('cp', ['-r', join(ROOT, 'charts'), join(ROOT, 'crds'), path])
    for (const name of ['tls.key', 'tls.crt', 'token']) await writeFile(join(path, name), 'a')
    // A page names the chart where it installs it.
    const commands = commandsOf(page, heading, index).replace('upgrade drape … ', 'upgrade drape ./charts/drape ')
    const script = `${HELM}\n${commands}`
    const env = { ...process.env, HELM: await findHelm(), KUBECTL: kubectl ?? '' }
    expect(await run('bash', ['--norc', '-euo', 'pipefail', '-c', script], { cwd: path, env })).toSatisfy(
      (text: string) => contains.test(text),
    )
  })
})

interface Pod {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly volumes: readonly object[] }
}
interface Ignored {
  readonly group: string
  readonly kind: string
  readonly jsonPointers: readonly string[]
}
interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}
interface Definition {
  readonly spec: {
    readonly group: string
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[]
  }
}

function fieldOf(schema: Schema | undefined, [name, ...rest]: readonly string[]): Schema | undefined {
  const field = schema?.properties?.[name]
  return rest.length === 0 ? field : fieldOf(field, rest)
}
