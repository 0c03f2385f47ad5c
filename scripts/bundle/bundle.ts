import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parse } from 'yaml'
import { packChart } from '../charts/archive.ts'
import { CHARTS } from '../charts/build.ts'
import { listImages } from '../charts/images.ts'
import { type Builder, exportImage } from '../container/build.ts'
import { readLayout } from '../container/layout.ts'
import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import { writeWeights } from './weights.ts'

/** Repository of the weights in a registry, next to Drape's images. */
const WEIGHTS = 'drape/weights'

/**
 * Fills the folder with everything that an installation without internet access needs, and returns the lines of its
 * images.txt.
 * @throws Error if the folder is not empty, or a requested image neither exists nor can be pulled.
 */
export async function makeBundle(
  output: string,
  { builder, without }: { builder: Builder; without: readonly string[] },
): Promise<string[]> {
  await mkdir(output, { recursive: true })
  if ((await readdir(output)).length > 0) throw new Error(`${output} is not empty`)
  const images = await listImages(join(ROOT, 'charts/drape'))
  const unknown = without.filter((name) => !images.includes(name))
  if (unknown.length > 0) throw new Error(`the chart does not use ${unknown.join(', ')}. Images: ${images.join(', ')}`)
  for (const name of images.filter((each) => !without.includes(each))) await addImage(name, output, builder)
  const tag = await packageCharts(output)
  const weights = await writeWeights(join(ROOT, 'worker/models'), {
    folder: join(output, 'weights'),
    name: `${WEIGHTS}:${tag}`,
  })
  const stored = [...(await readLayout(join(output, 'images'))), weights]
  const lines = stored.map(({ name, digest }) => `${name} ${digest}`)
  await writeFile(join(output, 'images.txt'), `${lines.join('\n')}\n`)
  await copyFile(join(import.meta.dirname, 'mirror.sh'), join(output, 'mirror'))
  await writeFile(join(output, 'SHA256SUMS'), `${(await sumFiles(output)).join('\n')}\n`)
  return lines
}

async function addImage(name: string, output: string, builder: Builder): Promise<void> {
  const { command, options = [] } = builder
  const isHere = (await run(command, [...options, 'images', '--quiet', name]).catch(() => '')).trim() !== ''
  if (!isHere) await run(command, [...options, 'pull', '--quiet', name])
  await exportImage(name, join(output, 'images'), builder)
}

/** Returns the common version of the charts. */
async function packageCharts(output: string): Promise<string> {
  for (const name of CHARTS) {
    await packChart(name, output)
    await rm(join(output, name), { recursive: true })
  }
  const { version } = parse(await readFile(join(ROOT, 'charts/drape/Chart.yaml'), 'utf8'))
  return version
}

/** In the format of sha256sum. */
async function sumFiles(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const lines: string[] = []
  for (const path of paths.sort()) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(path), hash)
    lines.push(`${hash.digest('hex')}  ${relative(folder, path)}`)
  }
  return lines
}
