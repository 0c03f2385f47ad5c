import { mkdir, symlink } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { packChart } from '../../../scripts/charts/build.ts'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { ROOT } from '../../../scripts/stack/session.ts'
import { commandsOf } from '../../support/documented-blocks.ts'
import { spawnProcess, type TestProcess } from '../../support/process.ts'
import { writeProgram } from '../../support/write-program.ts'
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
  /** Starts a block whose command runs until it is stopped, with other texts for the placeholders of the page. */
  start(place: Place, placeholders: Readonly<Record<string, string>>): Promise<TestProcess>
  /** Runs commands of the test's own in the same place. */
  run(commands: string): Promise<string>
}

/**
 * An operator with kubectl, Helm and the chart, also as a version 0.2.0 that differs from this one only in its number. Each
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
  await mkdir(charts, { recursive: true })
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
  const argumentsOf = (commands: string) => ['--norc', '-euo', 'pipefail', '-c', commands]
  const shell = (commands: string) => run('bash', argumentsOf(commands), { cwd: folder, env })
  return {
    folder,
    follow: async (page, heading, index = 0) => shell(commandsOf(pathOf(page), heading, index)),
    followPart: async ({ page, heading, index }, { without = /^$/, placeholders = {} }) => {
      const lines = commandsOf(pathOf(page), heading, index)
        .split('\n')
        .filter((line) => !without.test(line))
      return shell(fillIn(lines.join('\n'), placeholders))
    },
    start: ({ page, heading, index }, placeholders) => {
      const commands = fillIn(commandsOf(pathOf(page), heading, index), placeholders)
      return spawnProcess({ command: 'bash', args: argumentsOf(commands), cwd: folder, env })
    },
    run: shell,
  }
}

function fillIn(commands: string, placeholders: Readonly<Record<string, string>>): string {
  return Object.entries(placeholders).reduce((text, [from, to]) => text.replaceAll(from, to), commands)
}

function pathOf(page: string): string {
  return page.includes('/') ? page : `charts/drape/docs/${page}`
}
