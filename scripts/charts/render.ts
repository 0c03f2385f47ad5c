import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { run } from '../stack/commands.ts'
import { findHelm } from './helm.ts'

/** A rendered object. */
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
  /** Values files in the chart. */
  readonly values?: readonly string[]
  /** Values by path. */
  readonly set?: Readonly<Record<string, unknown>>
  readonly namespace?: string
  /** Name of the release; default `drape`. */
  readonly name?: string
  /** Additional arguments of Helm. */
  readonly more?: readonly string[]
}

/** Renders a built chart. Throws with Helm's message on an error. */
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
