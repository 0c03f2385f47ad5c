import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { packChart } from '../../../scripts/charts/archive.ts'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import type { RealCluster } from './cluster.ts'
import type { NodePrograms } from './node-programs.ts'

const DOCS = join(ROOT, 'charts/drape/docs')

/** Does what the pages for those who run it say, word for word, where they would do it. */
export interface Reader {
  /** The folder in which commands are run: like a clone with packed charts. */
  readonly folder: string
  /** Runs the nth block of commands below a heading of a page and returns what was written. Throws at the first that fails. */
  follow(page: string, heading: string, index?: number): Promise<string>
  /** Runs commands of the test's own in the same place. */
  run(commands: string): Promise<string>
}

/** Somebody with kubectl, Helm and the chart, also as a version 0.2.0 that nothing but its number tells from this one. */
export async function createReader(cluster: RealCluster, { node }: NodePrograms): Promise<Reader> {
  const folder = join(cluster.folder, 'reader')
  const charts = join(folder, '.cache/charts')
  const bin = join(folder, 'bin')
  for (const path of [charts, bin]) await mkdir(path, { recursive: true })
  for (const name of ['charts', 'crds']) await symlink(join(ROOT, name), join(folder, name))
  const helm = await findHelm()
  await symlink(helm, join(bin, 'helm'))
  await writeFile(join(bin, 'kubectl'), `#!/bin/sh\nexec ${node} kubectl "$@"\n`)
  await chmod(join(bin, 'kubectl'), 0o755)
  await packChart('drape', charts)
  const next = ['--version', '0.2.0', '--app-version', '0.2.0', '--destination', charts]
  await run(helm, ['package', join(charts, 'drape'), ...next])

  const homes = Object.fromEntries(['CACHE', 'CONFIG', 'DATA'].map((name) => [`HELM_${name}_HOME`, cluster.folder]))
  const env = {
    ...process.env,
    ...homes,
    KUBECONFIG: cluster.controlPlane.kubeconfig,
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  }
  const shell = (commands: string) => run('bash', ['--norc', '-euo', 'pipefail', '-c', commands], { cwd: folder, env })
  return {
    folder,
    follow: async (page, heading, index = 0) => shell(await readBlock(page, heading, index)),
    run: shell,
  }
}

/** Throws where the page has no such block, so that a test cannot miss what was taken away. */
async function readBlock(page: string, heading: string, index: number): Promise<string> {
  const text = await readFile(join(DOCS, page), 'utf8')
  const section = text.split(/^(?=#+ )/m).find((part) => part.split('\n')[0].replace(/^#+ /, '') === heading)
  const blocks = [...(section ?? '').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block)
  if (blocks[index] === undefined) throw new Error(`${page} has no block ${index} of commands below "${heading}"`)
  return blocks[index]
}
