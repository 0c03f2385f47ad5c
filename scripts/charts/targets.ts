import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { buildChart } from './build.ts'
import { renderChart } from './render.ts'

const HEADER = `# Events, errors and targets of the objectives for the default values of the chart, written by scripts/chart document. The chart
# itself installs those of its values \`metrics.objectives\`.
`

/** The rules that the chart renders from the default objectives, as a file of rules. */
export async function presentTargets(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-chart-'))
  try {
    const objects = await renderChart(await buildChart('drape', folder), { set: { 'metrics.rules.enabled': 'always' } })
    const { groups } = objects.find(({ kind }) => kind === 'PrometheusRule')?.spec ?? { groups: [] }
    const targets = groups.filter(({ name }: { name: string }) => name === 'drape-targets')
    return HEADER + stringify({ groups: targets }, { lineWidth: 0 })
  } finally {
    await rm(folder, { recursive: true })
  }
}
