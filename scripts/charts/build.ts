import { cp, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { parse, stringify } from 'yaml'
import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import { findHelm } from './helm.ts'
import { listImages } from './images.ts'

/** The charts with sources in `charts/`. */
export const CHARTS = ['drape', 'drape-crds'] as const
export type ChartName = (typeof CHARTS)[number]

/** The custom resource definitions, which `scripts/crds` writes. Both charts have a link to the folder. */
export const DEFINITIONS_FOLDER = join(ROOT, 'crds')
const SAMPLES_FOLDER = join(DEFINITIONS_FOLDER, 'samples')

/** Builds the published chart from its source in a folder of `output`, which is emptied first. Returns its path. */
export async function buildChart(name: ChartName, output: string): Promise<string> {
  const folder = join(output, name)
  await rm(folder, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  const filter = async (path: string) => (await realpath(path)) !== SAMPLES_FOLDER
  await cp(join(ROOT, 'charts', name), folder, { recursive: true, dereference: true, filter })
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

/** Paths of the custom resource definitions. */
export async function findDefinitions(): Promise<string[]> {
  const names = await readdir(DEFINITIONS_FOLDER)
  return names
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => join(DEFINITIONS_FOLDER, name))
}

/** Packs a chart as an archive in the folder; returns its path. */
export async function packChart(name: ChartName, output: string): Promise<string> {
  const folder = await buildChart(name, output)
  const stdout = await run(await findHelm(), ['package', folder, '--destination', output])
  return join(output, basename(stdout.trim()))
}
