import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../controller/runtime/client.ts'
import type { KubernetesObject } from '../../controller/runtime/resource.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { DEFINITIONS } from '../cluster/kinds.ts'
import { createTestNamespace, type TestNamespace } from '../cluster/namespace.ts'
import { findSharedControlPlane } from '../cluster/shared-control-plane.ts'
import { findGoModule, type GoModule } from '../support/go-module.ts'
import { until } from '../support/until.ts'
import { findChart, orSkip, type Rendered, renderWith } from './charts.ts'
import { createDryRun, type DryRun } from './dry-run.ts'

/** Who defines the kinds of others that the chart or its pages use, and where among its files. */
const MODULES: readonly (GoModule & { readonly definitions: readonly string[] })[] = [
  {
    path: 'github.com/external-secrets/external-secrets',
    version: 'v1.3.2',
    sum: 'h1:u2J8RjlHIeF0oZCqtl92adI/uZWUwOesJIDkfql6LqQ=',
    definitions: ['config/crds/bases/external-secrets.io_externalsecrets.yaml'],
  },
  {
    path: 'github.com/kedacore/keda/v2',
    version: 'v2.21.0',
    sum: 'h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=',
    definitions: ['config/crd/bases/keda.sh_scaledobjects.yaml'],
  },
  {
    path: 'github.com/prometheus-operator/prometheus-operator',
    version: 'v0.85.0',
    sum: 'h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=',
    definitions: ['servicemonitors', 'podmonitors', 'prometheusrules'].map(
      (name) => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
    ),
  },
  {
    path: 'sigs.k8s.io/gateway-api',
    version: 'v1.4.1',
    sum: 'h1:NPxFutNkKNa8UfLd2CMlEuhIPMQgDQ6DXNKG9sHbJU8=',
    definitions: ['config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'],
  },
]
const KINDS = ['ExternalSecret', 'ServiceMonitor', 'PodMonitor', 'PrometheusRule', 'HTTPRoute']
const SET = {
  host: 'tryon.example',
  exposure: 'httpRoute',
  'httpRoute.parentRefs': [{ name: 'gateway', namespace: 'gateways', sectionName: 'https' }],
  'metrics.monitors': 'always',
  'metrics.relabelings': [{ targetLabel: 'team', replacement: 'shop' }],
  'postgres.enabled': false,
  'redis.enabled': false,
  'storage.kind': 's3',
  'storage.s3.bucket': 'images',
  'externalSecrets.secretStoreRef.name': 'vault',
  'externalSecrets.keys': {
    database: 'drape/database',
    queue: 'drape/queue',
    signing: 'drape/signing',
    storage: 'drape/s3',
    oidc: 'drape/oidc',
  },
}

const controlPlane = await findSharedControlPlane()
const chart = await findChart('drape')
const render = renderWith(chart)
const files = await orSkip('definitions of others', findDefinitions())

describe.skipIf(controlPlane === null || chart === null || files === null)(
  'an API server with the definitions of other operators',
  () => {
    let place: TestNamespace
    let dryRun: DryRun

    beforeAll(async () => {
      if (controlPlane === null || files === null) return
      place = await createTestNamespace(controlPlane)
      for (const file of files) await install(file, place.client)
      dryRun = await createDryRun(place)
    })
    afterAll(() => place?.[Symbol.asyncDispose]())

    it('accepts the resources that the chart creates for other operators', async () => {
      const objects = (await render(SET)).filter(({ kind }) => KINDS.includes(kind))
      expect(new Set(objects.map(({ kind }) => kind))).toEqual(new Set(KINDS))
      expect(objects.filter(({ kind }) => kind === 'ExternalSecret')).toHaveLength(5)
      expect(await dryRun(objects)).toEqual([])
    })

    it.for(['gpu.md', 'nodes.md'])(
      'takes the ScaledObject of the page %s, with a field for each of its settings',
      async (name) => {
        const page = await readFile(join(ROOT, `charts/drape/docs/${name}`), 'utf8')
        const [scaled] = readYaml(/^```yaml\n(apiVersion: keda\.sh.*?)^```$/ms.exec(page)?.[1] ?? '') as [Rendered]
        expect(scaled).toMatchObject({ kind: 'ScaledObject', spec: { scaleTargetRef: { kind: 'WorkerPool' } } })
        expect(await dryRun([scaled])).toEqual([])
      },
    )

    it('rejects unknown fields of these kinds (control)', async () => {
      const [secret] = (await render(SET)).filter(({ kind }) => kind === 'ExternalSecret')
      const odd = { ...secret, spec: { ...secret.spec, refreshEvery: '1h', target: { name: 1 } } }
      expect((await dryRun([odd])).join()).toMatch(/refreshEvery/)
      expect((await dryRun([{ ...odd, spec: { ...secret.spec, refreshPolicy: 'Never' } }])).join()).toMatch(
        /Unsupported value: "Never"/,
      )
    })
  },
)

async function findDefinitions(): Promise<string[]> {
  const found: string[] = []
  for (const { definitions, ...module } of MODULES) {
    const folder = await findGoModule(module)
    if (typeof folder !== 'string') throw new Error(folder.unavailable)
    found.push(...definitions.map((name) => join(folder, name)))
  }
  return found
}

interface Definition extends KubernetesObject {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

async function install(file: string, client: Client): Promise<void> {
  const [definition] = readYaml(await readFile(file, 'utf8')) as [Definition]
  const { metadata } = await client.apply<Definition>(DEFINITIONS, { ...definition })
  await until(async () => {
    const conditions = (await client.get<Definition>(DEFINITIONS, { name: metadata.name }))?.status?.conditions
    return conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
  })
}
