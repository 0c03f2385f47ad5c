import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { buildChart, CHARTS } from './charts/build.ts'
import { documentChart } from './charts/document.ts'
import { findHelm } from './charts/helm.ts'
import { run } from './stack/commands.ts'
import { ROOT } from './stack/session.ts'

const USAGE = `usage: scripts/chart <command> [--output FOLDER]

  build       the charts as folders, with the custom resource definitions in them
  package     the charts as archives
  document    writes the schemas and the tables of the values from each values.yaml`

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
  default:
    console.error(USAGE)
    process.exitCode = 2
}
