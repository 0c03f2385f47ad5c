import { basename, join } from 'node:path'
import { run } from '../stack/commands.ts'
import { buildChart, type ChartName } from './build.ts'
import { findHelm } from './helm.ts'

/** Packs a chart as an archive in the folder; returns its path. */
export async function packChart(name: ChartName, output: string): Promise<string> {
  const folder = await buildChart(name, output)
  const stdout = await run(await findHelm(), ['package', folder, '--destination', output])
  return join(output, basename(stdout.trim()))
}
