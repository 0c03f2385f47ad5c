import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { CUSTOM_RESOURCES } from '../../controller/definitions/custom-resources.ts'
import { run } from '../../scripts/stack/commands.ts'
import { ROOT } from '../../scripts/stack/session.ts'
import { findSharedControlPlane } from '../cluster/shared-control-plane.ts'
import { requestService } from '../support/request-service.ts'
import { findApiSchemas, SCHEMA_FILE, writeDefinitionSchemas } from './api-schemas.ts'
import { findChart, findTool, findValuesFiles } from './charts.ts'

const KUBECONFORM = {
  name: 'kubeconform',
  package: 'github.com/yannh/kubeconform/cmd/kubeconform',
  source: { version: 'v0.8.0' },
}
const chart = await findChart('drape')
const definitions = await findChart('drape-crds')
const controlPlane = await findSharedControlPlane()
const program = await findTool(KUBECONFORM)
const valuesFiles = await findValuesFiles()
const possible = chart !== null && controlPlane !== null && program !== null

describe.skipIf(!possible)('kubeconform with the schemas of the API server and of the CRDs', () => {
  let apiSchemas: string
  let ours: string

  beforeAll(async () => {
    if (controlPlane === null) return
    apiSchemas = await findApiSchemas(controlPlane)
    ours = (await requestService('folder', null)).path
    await writeDefinitionSchemas(ours)
  })

  it.for(valuesFiles.map((files) => [files.join() || 'no values', files] as const))(
    'accepts what %s becomes',
    async ([, files]) => {
      const values = files.flatMap((file) => ['--values', join(chart?.folder ?? '', file)])
      const text = (await chart?.helm('template', 'drape', chart.folder, ...values)) ?? ''
      // test/chart/foreign-kinds.test.ts has the schema of the Gateway API.
      const found = await judge(text.replace(/^---\n(?:(?!---\n).*\n)*kind: HTTPRoute\n(?:(?!---\n).*\n)*/m, ''))
      expect(found.summary).toMatchObject({ invalid: 0, errors: 0, skipped: 0 })
      expect(found.summary.valid).toBeGreaterThan(20)
    },
  )

  it('accepts the CRDs and their samples', async () => {
    const text = (await definitions?.helm('template', 'drape', definitions.folder)) ?? ''
    expect((await judge(text)).summary).toMatchObject({
      valid: CUSTOM_RESOURCES.length,
      invalid: 0,
      errors: 0,
      skipped: 0,
    })
    for (const name of ['pool-small', 'pool-business-hours', 'retention', 'engines']) {
      const sample = await readFile(join(ROOT, 'crds/samples', `${name}.yaml`), 'utf8')
      expect((await judge(sample)).summary, name).toMatchObject({ invalid: 0, errors: 0, skipped: 0 })
    }
  })

  it.for([
    ['apps/v1', 'Deployment', { replicas: 'one' }],
    ['apps/v1', 'Deployment', { replica: 1 }],
    ['drape.dev/v1alpha1', 'RetentionPolicy', { ttlSeconds: 1 }],
    ['drape.dev/v1alpha1', 'RetentionPolicy', { ttlSeconds: 3600, ttl: 1 }],
  ] as const)('refuses a %s %s with %o', async ([apiVersion, kind, spec]) => {
    const found = await judge(JSON.stringify({ apiVersion, kind, metadata: { name: 'odd' }, spec }))
    expect(found.summary).toMatchObject({ valid: 0, invalid: 1 })
  })

  async function judge(text: string): Promise<{ summary: Record<string, number> }> {
    const file = join((await requestService('folder', null)).path, 'objects.yaml')
    await writeFile(file, text)
    const places = [apiSchemas, ours].flatMap((folder) => ['-schema-location', join(folder, SCHEMA_FILE)])
    // It ends with 1 where something is invalid.
    const stdout = await run('sh', [
      '-c',
      '"$@" || true',
      'sh',
      program as string,
      '-strict',
      '-summary',
      '-output',
      'json',
      ...places,
      file,
    ])
    return JSON.parse(stdout)
  }
})
