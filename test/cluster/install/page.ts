import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { packChart } from '../../../scripts/charts/archive.ts'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { commandsOf } from '../../support/documented-blocks.ts'
import type { RealCluster } from './cluster.ts'
import type { NodePrograms } from './node-programs.ts'

export interface Place {
  /** Page of the chart, for example `install.md`, or any other by its path from the root. */
  readonly page: string
  readonly heading: string
  readonly index?: number
}

/** Does what the pages for those who run it say, word for word, where they would do it. */
export interface Reader {
  /** The folder in which commands are run: like a clone with packed charts. */
  readonly folder: string
  /** Runs the nth block of commands below a heading of a page and returns what was written. Throws at the first that fails. */
  follow(page: string, heading: string, index?: number): Promise<string>
  /** The same without the lines that match, and with other texts for the placeholders of the page. */
  followPart(
    place: Place,
    change: { without?: RegExp; placeholders?: Readonly<Record<string, string>> },
  ): Promise<string>
  /** Runs commands of the test's own in the same place. */
  run(commands: string): Promise<string>
}

/**
 * Somebody with kubectl, Helm and the chart, also as a version 0.2.0 that nothing but its number tells from this one. Each
 * `helm install` gets the arguments `installWith`, for a small machine.
 */
export async function createReader(
  cluster: RealCluster,
  { node }: NodePrograms,
  { installWith = [] }: { installWith?: readonly string[] } = {},
): Promise<Reader> {
  const folder = join(cluster.folder, 'reader')
  const charts = join(folder, '.cache/charts')
  const bin = join(folder, 'bin')
  for (const path of [charts, bin]) await mkdir(path, { recursive: true })
  for (const name of ['charts', 'crds', 'scripts']) await symlink(join(ROOT, name), join(folder, name))
  const helm = await findHelm()
  const more = installWith.map((argument) => `'${argument}'`).join(' ')
  await writeProgram(join(bin, 'helm'), `[ "$1" = install ] && exec ${helm} "$@" ${more}\nexec ${helm} "$@"`)
  await writeProgram(join(bin, 'kubectl'), `exec ${node} kubectl "$@"`)
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
    follow: async (page, heading, index = 0) => shell(commandsOf(pathOf(page), heading, index)),
    followPart: async ({ page, heading, index }, { without = /^$/, placeholders = {} }) => {
      const lines = commandsOf(pathOf(page), heading, index)
        .split('\n')
        .filter((line) => !without.test(line))
      const entries = Object.entries(placeholders)
      return shell(entries.reduce((text, [from, to]) => text.replaceAll(from, to), lines.join('\n')))
    },
    run: shell,
  }
}

function pathOf(page: string): string {
  return page.includes('/') ? page : `charts/drape/docs/${page}`
}

async function writeProgram(path: string, commands: string): Promise<void> {
  await writeFile(path, `#!/bin/sh\n${commands}\n`)
  await chmod(path, 0o755)
}
