import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { CheckFailure } from '../failure.ts'
import { type Options, required } from '../options.ts'

interface Panel {
  readonly targets?: readonly { readonly expr?: string }[]
  readonly panels?: readonly Panel[]
}

/** The folder contains dashboards, and each of them has a Prometheus query. */
export async function checkDashboards(options: Options): Promise<Record<string, unknown>> {
  const folder = required(options.folder, 'folder')
  const entries = await readdir(folder, { recursive: true })
  const names = entries.filter((name) => name.endsWith('.json') && !name.includes('..'))
  if (names.length === 0) throw new CheckFailure(`${folder} contains no dashboard`)
  const queries: Record<string, number> = {}
  for (const name of names) queries[name] = await countQueries(join(folder, name))
  return { queries }
}

async function countQueries(path: string): Promise<number> {
  const dashboard = JSON.parse(await readFile(path, 'utf8')) as Panel
  const count = allPanels(dashboard)
    .flatMap(({ targets = [] }) => targets)
    .filter(({ expr }) => expr).length
  if (count === 0) throw new CheckFailure(`${path} contains no query`)
  return count
}

function allPanels(panel: Panel): Panel[] {
  return [panel, ...(panel.panels ?? []).flatMap(allPanels)]
}
