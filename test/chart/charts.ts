import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildChart, type ChartName } from '../../scripts/charts/build.ts'
import { findHelm } from '../../scripts/charts/helm.ts'
import { type Rendered, type RenderOptions, renderChart } from '../../scripts/charts/render.ts'
import { run } from '../../scripts/stack/commands.ts'
import { failUnlessAllowed } from '../support/missing.ts'
import { requestService } from '../support/request-service.ts'

export type { Rendered } from '../../scripts/charts/render.ts'

/** A chart that can be rendered, built from its source. */
export interface Chart {
  readonly folder: string
  helm(...args: string[]): Promise<string>
  /** Throws with what Helm says when it refuses. */
  render(options?: RenderOptions): Promise<Rendered[]>
}

/** Builds the chart in a folder that is deleted after all tests. Without Helm it fails or returns null as `failUnlessAllowed` does. */
export async function findChart(name: ChartName): Promise<Chart | null> {
  const program = await orSkip('Helm', findHelm())
  if (program === null) return null
  const folder = await buildChart(name, (await requestService('folder', null)).path)
  return {
    folder,
    helm: (...args) => run(program, args),
    render: (options) => renderChart(folder, options),
  }
}

/** What renders a chart with these values; nothing where there is none, so that a test can be skipped. */
export function renderWith(chart: Chart | null) {
  return async (set: RenderOptions['set'] = {}, more: readonly string[] = []): Promise<Rendered[]> =>
    (await chart?.render({ set, more })) ?? []
}

/** What returns the notes that Helm prints after an installation with these values; nothing where there is no chart. */
export function notesWith(chart: Chart | null) {
  return async (set: Readonly<Record<string, unknown>>): Promise<string> => {
    const given = Object.entries(set).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`])
    const output = (await chart?.helm('install', 'drape', chart.folder, '--dry-run=client', ...given)) ?? ''
    return output.slice(output.indexOf('\nNOTES:'))
  }
}

/** What was found. Fails or returns null as `failUnlessAllowed` does. */
export function orSkip<T>(name: string, found: Promise<T>): Promise<T | null> {
  return found.catch((reason: Error) => {
    return failUnlessAllowed(`No ${name}: ${reason.message}.`)
  })
}

/** The values files that the chart comes with, and none. */
export async function findValuesFiles(): Promise<(readonly string[])[]> {
  const folder = join(import.meta.dirname, '../../charts/drape')
  const names = (await readdir(folder)).filter((name) => /^values-.*\.yaml$/.test(name))
  return [[], ...names.sort().map((name) => [name])]
}
