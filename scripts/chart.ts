import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildChart, CHARTS } from './charts/build.ts'
import { documentChart } from './charts/document.ts'
import { findHelm } from './charts/helm.ts'
import { listImages } from './charts/images.ts'
import { recordRelease } from './charts/releases.ts'
import { run } from './stack/commands.ts'
import { ROOT } from './stack/session.ts'

const USAGE = `usage: scripts/chart <command> [--output FOLDER]

  build       the charts as folders, with the custom resource definitions in them
  package     the charts as archives
  document    writes the schemas and the tables of the values from each values.yaml
  images      every image that the chart drape can use
  record      notes what upgrades from this version must not change, once for each release`

const { positionals, values } = parseArgs({ allowPositionals: true, options: { output: { type: 'string' } } })
const output = resolve(values.output ?? join(ROOT, '.cache/charts'))

switch (positionals.join(' ')) {
  case 'build':
    for (const name of CHARTS) console.log(await buildChart(name, output))
    break
  case 'package':
    for (const name of CHARTS) {
      const folder = await buildChart(name, output)
      console.log((await run(await findHelm(), ['package', folder, '--destination', output])).trim())
    }
    break
  case 'document':
    for (const name of CHARTS) {
      for (const [path, text] of await documentChart(name)) await writeFile(join(ROOT, path), text)
    }
    break
  case 'images':
    for (const image of await listImages(join(ROOT, 'charts/drape'))) console.log(image)
    break
  case 'record':
    console.log(await recordRelease(await buildChart('drape', output)))
    break
  default:
    console.error(USAGE)
    process.exitCode = 2
}
