import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { ROOT } from '../stack/session.ts'
import { buildChart, CHARTS, packChart } from './build.ts'
import { documentChart } from './document.ts'
import { findHelm } from './helm.ts'
import { listImages } from './images.ts'

const USAGE = `usage: scripts/chart <command> [--output FOLDER]

  build       builds the charts as folders, including the custom resource definitions
  package     packages the charts as archives
  images      lists every image that the chart drape can use
  document    generates the schemas from each values.yaml, and rules
  helm        prints the path of Helm, and builds Helm if necessary`

const { positionals, values } = parseArgs({ allowPositionals: true, options: { output: { type: 'string' } } })
const output = resolve(values.output ?? join(ROOT, '.cache/charts'))

const COMMANDS: Readonly<Record<string, () => Promise<void>>> = {
  build: async () => {
    for (const name of CHARTS) console.log(await buildChart(name, output))
  },
  package: async () => {
    for (const name of CHARTS) console.log(await packChart(name, output))
  },
  images: async () => {
    for (const image of await listImages(join(ROOT, 'charts/drape'))) console.log(image)
  },
  document: async () => {
    for (const name of CHARTS) {
      for (const [path, text] of await documentChart(name)) await writeFile(join(ROOT, path), text)
    }
  },
  helm: async () => {
    console.log(await findHelm())
  },
}

const command = COMMANDS[positionals.join(' ')]
if (command === undefined) {
  console.error(USAGE)
  process.exitCode = 2
} else {
  try {
    await command()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    process.exitCode = 1
  }
}
