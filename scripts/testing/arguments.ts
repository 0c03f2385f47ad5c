import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { ROOT } from '../stack/session.ts'

export interface TestArguments {
  /** From the clone's folder; empty for a complete run. */
  readonly paths: readonly string[]
  /** For vitest. */
  readonly options: readonly string[]
  /** With the long forms of tests. */
  readonly long: boolean
  /** Every long form in sequence, and nothing else. */
  readonly longAll: boolean
  /** The commit to compare with; undefined without `--changed`. */
  readonly changedSince: string | undefined
  /** Tests of programs that are missing are skipped. */
  readonly allowMissing: boolean
  /** With a table of what each file costs. */
  readonly profile: boolean
}

const OWN = ['--long', '--long-all', '--allow-missing', '--profile']
/** Options of vitest whose value may be the next word. */
const VALUED = [
  ...['-t', '--testNamePattern', '--testTimeout', '--hookTimeout', '--bail', '--retry', '--repeats', '--reporter'],
  ...['--maxWorkers', '--exclude', '--shard', '--slowTestThreshold'],
]

export function readTestArguments(all: readonly string[]): TestArguments {
  const changed = all.findIndex((argument) => argument === '--changed' || argument.startsWith('--changed='))
  const rest = all.filter((_, index) => index !== changed)
  const isOption = rest.map((argument, index) => argument.startsWith('-') || VALUED.includes(rest[index - 1]))
  const words = rest.filter((_, index) => !isOption[index])
  // `--changed BASE`: the first word after it names the commit, unless it is a path.
  const next = changed < 0 ? undefined : all[changed + 1]
  const base = next !== undefined && !next.startsWith('-') && !existsSync(next) ? next : undefined
  return {
    // A path may be given from the folder in which the command was called; vitest reads it from the clone's.
    paths: words.filter((word) => word !== base).map((path) => (existsSync(path) ? relative(ROOT, path) : path)),
    options: rest.filter((argument, index) => isOption[index] && !OWN.includes(argument)),
    long: rest.includes('--long'),
    longAll: rest.includes('--long-all'),
    changedSince: changed < 0 ? undefined : (all[changed].split('=')[1] ?? base ?? 'HEAD'),
    allowMissing: rest.includes('--allow-missing'),
    profile: rest.includes('--profile'),
  }
}
