import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from '../stack/session.ts'
import type { ChartName } from './build.ts'
import { presentSchema } from './present-values.ts'
import { presentTargets } from './targets.ts'
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
