import { createHash } from 'node:crypto'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import { buildChart, CHARTS, type ChartName } from './build.ts'
import { findHelm } from './helm.ts'
import { listImages } from './images.ts'

/** Packs a chart as an archive in the folder; returns its path. */
export async function packChart(name: ChartName, output: string): Promise<string> {
  const folder = await buildChart(name, output)
  const said = await run(await findHelm(), ['package', folder, '--destination', output])
  return join(output, basename(said.trim()))
}

/**
 * Gathers in the folder, which is emptied first, what an installation without a way to the internet takes beside the images: the
 * charts, the definitions, the names of all images, and the program that copies them.
 */
export async function bundleCharts(output: string): Promise<void> {
  await rm(output, { recursive: true, force: true })
  await mkdir(output, { recursive: true })
  const images = await listImages(join(ROOT, 'charts/drape'))
  await writeFile(join(output, 'images.txt'), `${images.join('\n')}\n`)
  await cp(join(import.meta.dirname, 'mirror.sh'), join(output, 'mirror.sh'))
  const work = join(output, 'work')
  for (const name of CHARTS) {
    const archive = await packChart(name, work)
    await cp(archive, join(output, basename(archive)))
  }
  await cp(join(work, 'drape-crds/definitions'), join(output, 'crds'), { recursive: true })
  for (const name of await readdir(join(work, 'drape'))) {
    if (/^values-.*\.yaml$/.test(name)) await cp(join(work, 'drape', name), join(output, name))
  }
  await rm(work, { recursive: true })
  await writeFile(join(output, 'SHA256SUMS'), await sumsOf(output))
}

async function sumsOf(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const lines = paths.sort().map(async (path) => {
    const digest = createHash('sha256')
      .update(await readFile(path))
      .digest('hex')
    return `${digest}  ${path.slice(folder.length + 1)}\n`
  })
  return (await Promise.all(lines)).join('')
}
