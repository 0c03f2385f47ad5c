import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { run } from '../stack/commands.ts'
import { findHelm } from './helm.ts'

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
  // biome-ignore lint/suspicious/noExplicitAny: what a chart writes has the shape of its kind, which Kubernetes knows
  readonly [field: string]: any
}

export interface RenderOptions {
  /** Files of values in the chart. */
  readonly values?: readonly string[]
  /** Values by their paths. */
  readonly set?: Readonly<Record<string, unknown>>
  readonly namespace?: string
  /** Of the release; `drape` when absent. */
  readonly name?: string
  /** More arguments for Helm. */
  readonly more?: readonly string[]
}

/** The objects that a built chart becomes. Throws with what Helm says when it refuses. */
export async function renderChart(
  folder: string,
  { values = [], set = {}, namespace = 'shop', name = 'drape', more = [] }: RenderOptions = {},
): Promise<Rendered[]> {
  const given = [
    ...values.flatMap((file) => ['--values', join(folder, file)]),
    ...Object.entries(set).flatMap(([path, value]) => ['--set-json', `${path}=${JSON.stringify(value)}`]),
  ]
  const text = await run(await findHelm(), ['template', name, folder, '--namespace', namespace, ...given, ...more])
  return parseAllDocuments(text)
    .map((document) => document.toJSON() as Rendered | null)
    .filter((object) => object !== null)
}
