import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { ROOT } from '../stack/session.ts'

/** The charts whose sources lie in `charts/`. */
export const CHARTS = ['drape', 'drape-crds'] as const
export type ChartName = (typeof CHARTS)[number]

/** Where each chart has the custom resource definitions; they lie once in `crds/` and are copied in. */
const DEFINITIONS: Readonly<Record<ChartName, string>> = { drape: 'charts/crds/crds', 'drape-crds': 'definitions' }

/** Makes the chart from its source and the definitions in `crds/`, in a folder of `output` that is emptied first. Returns its path. */
export async function buildChart(name: ChartName, output: string): Promise<string> {
  const folder = join(output, name)
  await rm(folder, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  await cp(join(ROOT, 'charts', name), folder, { recursive: true })
  const definitions = join(folder, DEFINITIONS[name])
  await mkdir(definitions, { recursive: true })
  const digests = await Promise.all((await findDefinitions()).map((path) => copy(path, definitions)))
  // By this file the templates know that they are no mere source.
  await writeFile(join(folder, 'packaged'), `${digests.join('\n')}\n`)
  return folder
}

async function findDefinitions(): Promise<string[]> {
  const folder = join(ROOT, 'crds')
  const names = (await readdir(folder)).filter((name) => name.endsWith('.yaml'))
  return names.sort().map((name) => join(folder, name))
}

async function copy(path: string, folder: string): Promise<string> {
  const text = await readFile(path)
  await writeFile(join(folder, basename(path)), text)
  return `${createHash('sha256').update(text).digest('hex')}  ${basename(path)}`
}
