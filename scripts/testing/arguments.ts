import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { ROOT } from '../stack/session.ts'

export interface TestArguments {
  /** Relative to the clone; empty for a complete run. */
  readonly paths: readonly string[]
  /** Options of vitest. */
  readonly options: readonly string[]
  /** Whether to run the long forms of tests. */
  readonly long: boolean
  /** Runs only the long forms, sequentially. */
  readonly longAll: boolean
  /** The base commit; undefined without `--changed`. */
  readonly changedSince: string | undefined
  /** Whether to skip tests whose programs are missing. */
  readonly allowMissing: boolean
  /** Whether to print a table of the cost per file. */
  readonly profile: boolean
}

const OWN = ['--long', '--long-all', '--allow-missing', '--profile']
/** Options of vitest whose value can be the next word. */
const VALUED = [
  ...['-t', '--testNamePattern', '--testTimeout', '--hookTimeout', '--bail', '--retry', '--repeats', '--reporter'],
  ...['--maxWorkers', '--exclude', '--shard', '--slowTestThreshold'],
]

export function readTestArguments(all: readonly string[]): TestArguments {
  const changed = all.findIndex((argument) => argument === '--changed' || argument.startsWith('--changed='))
  const rest = all.filter((_, index) => index !== changed)
  const isOption = rest.map((argument, index) => argument.startsWith('-') || VALUED.includes(rest[index - 1]))
  const words = rest.filter((_, index) => !isOption[index])
  // `--changed BASE`: the next word is the base commit, unless it is a path.
  const next = changed < 0 ? undefined : all[changed + 1]
  const base = next !== undefined && !next.startsWith('-') && !existsSync(next) ? next : undefined
  return {
    // A path can be relative to the caller's working directory; vitest resolves it from the clone.
    paths: words.filter((word) => word !== base).map((path) => (existsSync(path) ? relative(ROOT, path) : path)),
    options: rest.filter((argument, index) => isOption[index] && !OWN.includes(argument)),
    long: rest.includes('--long'),
    longAll: rest.includes('--long-all'),
    changedSince: changed < 0 ? undefined : (all[changed].split('=')[1] ?? base ?? 'HEAD'),
    allowMissing: rest.includes('--allow-missing'),
    profile: rest.includes('--profile'),
  }
}
