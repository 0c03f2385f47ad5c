import { readdir, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { run } from '../stack/commands.ts'
import { buildChart, type ChartName } from './build.ts'
import { findHelm } from './helm.ts'

/** Packs a chart as an archive in the folder; returns its path. Reproducible: archives contain the epoch as time of the files. */
export async function packChart(name: ChartName, output: string): Promise<string> {
  const folder = await buildChart(name, output)
  const entries = await readdir(folder, { recursive: true })
  await Promise.all(entries.map((path) => utimes(join(folder, path), 0, 0)))
  const stdout = await run(await findHelm(), ['package', folder, '--destination', output])
  return join(output, basename(stdout.trim()))
}
