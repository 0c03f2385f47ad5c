import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'
import { ROOT } from '../stack/session.ts'
import type { ChartName } from './build.ts'
import { presentSchema } from './present-values.ts'
import { renderChart } from './render.ts'
import { readValues } from './values.ts'

/**
 * Generates the files that derive from the values of the chart in a folder, by path in the repository: the schema and rules.
 */
export async function documentChart(
  name: ChartName,
  folder = join(ROOT, 'charts', name),
): Promise<Map<string, string>> {
  const path = (file: string) => `charts/${name}/${file}`
  const read = (file: string) => readFile(join(folder, file), 'utf8')
  const values = readValues(await read('values.yaml'))
  const otherNames = name === 'drape' ? parse(await read('files/other-names.yaml')) : {}
  return new Map([
    [path('values.schema.json'), presentSchema(values, otherNames)],
    ...(name === 'drape' ? [[path('rules/targets.yaml'), await presentTargets(folder)] as const] : []),
  ])
}

const HEADER = `# Events, errors and allowed errors of the objectives for the default values of the chart in all namespaces, written by
# scripts/chart document. The chart itself installs those of its values \`metrics.objectives\`, for the namespace of the release.
`

/** The rules that the chart in a folder renders from the default objectives, as a file of rules. */
async function presentTargets(folder: string): Promise<string> {
  // The schema is written after a change of values.yaml, and by the same command, so it can lack a new value.
  const more = ['--skip-schema-validation']
  const objects = await renderChart(folder, {
    set: { 'metrics.monitors': 'always', 'rbac.scope': 'cluster' },
    more,
  })
  const { groups } = objects.find(({ kind }) => kind === 'PrometheusRule')?.spec ?? { groups: [] }
  const targets = groups.filter(({ name }: { name: string }) => name === 'drape-targets')
  return HEADER + stringify({ groups: targets }, { lineWidth: 0 })
}
