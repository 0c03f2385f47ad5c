import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { ROOT } from '../stack/session.ts'
import { listImages } from './images.ts'

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
  if (name === 'drape') await annotate(folder)
  return folder
}

/** Lists the images and the custom resources for Artifact Hub. */
async function annotate(folder: string): Promise<void> {
  const path = join(folder, 'Chart.yaml')
  const chart = parse(await readFile(path, 'utf8'))
  const images = (await listImages(folder)).map((image) => ({ name: nameOf(image), image }))
  const definitions = await Promise.all((await findDefinitions()).map(readDefinition))
  const more = { 'artifacthub.io/images': stringify(images), 'artifacthub.io/crds': stringify(definitions) }
  const samples = await readFile(join(ROOT, 'crds/samples/pool-small.yaml'), 'utf8')
  const examples = { 'artifacthub.io/crdsExamples': stringify(samples.split(/^---$/m).map((text) => parse(text))) }
  await writeFile(path, stringify({ ...chart, annotations: { ...chart.annotations, ...more, ...examples } }))
}

function nameOf(image: string): string {
  return image.replace(/^.*\//, '').replace(/[:@].*$/, '')
}

async function readDefinition(path: string) {
  const { spec } = parse(await readFile(path, 'utf8'))
  const [version] = spec.versions
  return {
    kind: spec.names.kind,
    version: version.name,
    name: `${spec.names.plural}.${spec.group}`,
    displayName: spec.names.kind,
    description: version.schema.openAPIV3Schema.description,
  }
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
