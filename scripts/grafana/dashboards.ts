import { type Dashboard, presentDashboard } from './dashboard.ts'
import { objectives } from './objectives.ts'
import { pipeline } from './pipeline.ts'
import { pools } from './pools.ts'
import { retention } from './retention.ts'
import { service } from './service.ts'

export const DASHBOARDS: readonly Dashboard[] = [service, objectives, pipeline, pools, retention]

/** The dashboards as files: name and JSON text. */
export function presentDashboards(): [name: string, text: string][] {
  return DASHBOARDS.map((dashboard) => [
    `${dashboard.name}.json`,
    `${JSON.stringify(presentDashboard(dashboard), null, 2)}\n`,
  ])
}
