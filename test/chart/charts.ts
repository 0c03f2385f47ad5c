import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { buildChart, type ChartName } from '../../scripts/charts/build.ts'
import { findHelm } from '../../scripts/charts/helm.ts'
import { run } from '../../scripts/stack/commands.ts'
import { requestService } from '../support/request-service.ts'

/** An object as a template writes it. */
export interface Rendered {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: {
    readonly name: string
    readonly namespace?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly annotations?: Readonly<Record<string, string>>
  }
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what the chart says, whatever its shape is
  readonly [field: string]: any
}

export interface RenderOptions {
  readonly values?: readonly string[]
  readonly set?: Readonly<Record<string, unknown>>
  readonly namespace?: string
  readonly more?: readonly string[]
}

/** A chart that can be rendered, built from its source. */
export interface Chart {
  readonly folder: string
  helm(...args: string[]): Promise<string>
  /** Throws with what Helm says when it refuses. */
  render(options?: RenderOptions): Promise<Rendered[]>
}

/** Builds the chart in a folder that is deleted after all tests; null, with one line on the console, where there is no Helm. */
export async function findChart(name: ChartName): Promise<Chart | null> {
  const program = await findHelm().catch((reason: Error) => {
    if (process.env.CI === 'true') throw reason
    console.warn(`No Helm: ${reason.message}. The tests of the charts are skipped.`)
    return null
  })
  if (program === null) return null
  const folder = await buildChart(name, (await requestService('folder', null)).path)
  const helm = (...args: string[]) => run(program, args)
  return {
    folder,
    helm,
    render: async ({ values = [], set = {}, namespace = 'shop', more = [] } = {}) => {
      const given = [
        ...values.flatMap((file) => ['--values', join(folder, file)]),
        ...Object.entries(set).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]),
      ]
      const text = await helm('template', 'drape', folder, '--namespace', namespace, ...given, ...more)
      return readYaml(text) as Rendered[]
    },
  }
}

/** The values files that the chart comes with, and none. */
export async function findValuesFiles(): Promise<(readonly string[])[]> {
  const folder = join(import.meta.dirname, '../../charts/drape')
  const names = (await readdir(folder)).filter((name) => /^values-.*\.yaml$/.test(name))
  return [[], ...names.sort().map((name) => [name])]
}
