import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { ROOT } from '../stack/session.ts'
import { type ImmutableFields, immutableFieldsOf } from './immutable-fields.ts'
import { type Rendered, renderChart } from './render.ts'

const FOLDER = join(ROOT, 'charts/releases')

/** Contract of a release that later releases must keep, by values file. */
export interface Release {
  readonly version: string
  readonly byValues: Readonly<Record<string, ImmutableFields>>
  /** The custom resources of the release: later definitions must accept them, because a rollback restores them. */
  readonly customResources: readonly Rendered[]
}

/** Describes the built chart in the folder as a release. */
export async function describeRelease(folder: string): Promise<Release> {
  const { version } = parse(await readFile(join(folder, 'Chart.yaml'), 'utf8')) as { version: string }
  const files = (await readdir(folder)).filter((name) => /^values.*\.yaml$/.test(name)).sort()
  const rendered = await Promise.all(
    files.map(async (file) => [file, await renderChart(folder, { values: [file] })] as const),
  )
  return {
    version,
    byValues: Object.fromEntries(rendered.map(([file, objects]) => [file, immutableFieldsOf(objects)])),
    customResources: unique(rendered.flatMap(([, objects]) => objects.filter(isCustom))),
  }
}

function isCustom({ apiVersion }: Rendered): boolean {
  return apiVersion.startsWith('drape.dev/')
}

function unique(objects: readonly Rendered[]): Rendered[] {
  return [...new Map(objects.map((object) => [JSON.stringify(object), object])).values()]
}

/** Records the release of the built chart in the folder; returns the path. */
export async function recordRelease(folder: string): Promise<string> {
  const release = await describeRelease(folder)
  await mkdir(FOLDER, { recursive: true })
  const path = join(FOLDER, `${release.version}.json`)
  await writeFile(path, `${JSON.stringify(release, null, 2)}\n`)
  return path
}

/** All recorded releases. */
export async function readReleases(): Promise<Release[]> {
  const names = (await readdir(FOLDER)).filter((name) => name.endsWith('.json')).sort()
  return Promise.all(names.map(async (name) => JSON.parse(await readFile(join(FOLDER, name), 'utf8')) as Release))
}
