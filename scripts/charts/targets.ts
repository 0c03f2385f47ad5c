import { stringify } from 'yaml'
import { renderChart } from './render.ts'

const HEADER = `# Events, errors and allowed errors of the objectives for the default values of the chart in all namespaces, written by
# scripts/chart document. The chart itself installs those of its values \`metrics.objectives\`, for the namespace of the release.
`

/** The rules that the chart in a folder renders from the default objectives, as a file of rules. */
export async function presentTargets(folder: string): Promise<string> {
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
