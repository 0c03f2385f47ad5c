import { existsSync } from 'node:fs'
import { relative } from 'node:path'
import { ROOT } from '../stack/session.ts'
import { LANE_NAMES, type LaneName } from './lanes.ts'

export interface TestArguments {
  /** Relative to the clone; empty for all files of the lanes. */
  readonly paths: readonly string[]
  /** Options of vitest. */
  readonly options: readonly string[]
  /** Lanes to run; empty with paths alone, whose files run whatever their lane is. */
  readonly lanes: readonly LaneName[]
  /** Minutes after which no test runs any more; undefined: no limit but that of a hanging run. */
  readonly minutes: number | undefined
  /** The base commit; undefined without `--changed`. */
  readonly changedSince: string | undefined
  /** Whether to skip tests whose programs are missing. */
  readonly allowMissing: boolean
}

const OWN = ['--all', '--allow-missing']
const OWN_VALUED = ['--lane', '--minutes']
/** Options of vitest whose value can be the next word. */
const VALUED = [
  ...['-t', '--testNamePattern', '--testTimeout', '--hookTimeout', '--bail', '--retry', '--repeats', '--reporter'],
  ...['--maxWorkers', '--exclude', '--shard', '--slowTestThreshold'],
]

/** @throws Error that names a value that is not valid */
export function readTestArguments(all: readonly string[]): TestArguments {
  const { values, rest } = takeValues(all)
  const changed = rest.findIndex((argument) => argument === '--changed' || argument.startsWith('--changed='))
  const others = rest.filter((_, index) => index !== changed)
  const isOption = others.map((argument, index) => argument.startsWith('-') || VALUED.includes(others[index - 1]))
  const words = others.filter((_, index) => !isOption[index])
  // `--changed BASE`: the next word is the base commit, unless it is a path.
  const next = changed < 0 ? undefined : rest[changed + 1]
  const base = next !== undefined && !next.startsWith('-') && !existsSync(next) ? next : undefined
  const paths = words.filter((word) => word !== base).map((path) => (existsSync(path) ? relative(ROOT, path) : path))
  return {
    // A path can be relative to the caller's working directory; vitest resolves it from the clone.
    paths,
    options: others.filter((argument, index) => isOption[index] && !OWN.includes(argument)),
    lanes: rest.includes('--all') ? LANE_NAMES : readLanes(values['--lane'], paths),
    minutes: readMinutes(values['--minutes']),
    changedSince: changed < 0 ? undefined : (rest[changed].split('=')[1] ?? base ?? 'HEAD'),
    allowMissing: rest.includes('--allow-missing'),
  }
}

/** The values of `--name VALUE` and `--name=VALUE`, and the other words. */
function takeValues(all: readonly string[]) {
  const values: Record<string, string | undefined> = {}
  const rest: string[] = []
  const words = all.values()
  for (const word of words) {
    const [name, value] = word.split('=', 2)
    if (OWN_VALUED.includes(name)) values[name] = value ?? words.next().value ?? ''
    else rest.push(word)
  }
  return { values, rest }
}

function readLanes(value: string | undefined, paths: readonly string[]): LaneName[] {
  if (value === undefined) return paths.length === 0 ? ['default'] : []
  return value.split(',').map((word) => {
    const lane = LANE_NAMES.find((name) => name === word)
    if (lane === undefined) throw new Error(`There is no lane "${word}". Lanes: ${LANE_NAMES.join(', ')}.`)
    return lane
  })
}

function readMinutes(value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  if (!/^[1-9]\d{0,3}$/.test(value)) throw new Error('`--minutes` must be a whole number from 1 to 9999.')
  return Number(value)
}
