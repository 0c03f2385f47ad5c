import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import { type Durations, estimateSeconds, readDurations } from './durations.ts'
import { type Graph, reach, readGraph } from './graph.ts'

export interface ChangedTests {
  readonly files: readonly string[]
  /** Messages about the selection. */
  readonly lines: readonly string[]
}

/** Time budget for test files that only start a changed program; the nearest come first. */
const BUDGET_SECONDS = 100

/** The test files affected by changes since a commit, including uncommitted ones. */
export async function findChangedTests(since: string): Promise<ChangedTests> {
  const paths = await git('ls-files', '--cached', '--others', '--exclude-standard')
  return chooseTests(await findChangedFiles(since), readGraph(paths), readDurations())
}

async function findChangedFiles(since: string): Promise<string[]> {
  const base = since === 'HEAD' ? 'HEAD' : (await git('merge-base', since, 'HEAD'))[0]
  const lists = [git('diff', '--name-only', base), git('ls-files', '--others', '--exclude-standard')]
  return (await Promise.all(lists)).flat()
}

function git(...args: string[]): Promise<string[]> {
  return run('git', args, { cwd: ROOT }).then((text) => text.split('\n').filter(Boolean))
}

function isReached(graph: Graph, test: string, kind: 'import' | 'start', changed: readonly string[]): boolean {
  const reached = reach(graph, test, kind)
  return changed.some((path) => reached.has(path))
}

/**
 * Every test file that imports or reads a changed file, directly or indirectly. Test files that only start a program with a
 * changed file are often too many: they are selected up to the budget, those with a similar path first.
 */
function chooseTests(changed: readonly string[], graph: Graph, durations: Durations): ChangedTests {
  if (changed.length === 0) return { files: [], lines: ['Nothing has changed.'] }
  const tests = [...graph.keys()].filter((path) => path.endsWith('.test.ts')).sort()
  const reaching = (kind: 'import' | 'start') => tests.filter((test) => isReached(graph, test, kind, changed))
  const secondsOf = (test: string) => estimateSeconds(test, durations)
  const likeness = (test: string) => Math.max(...changed.map((path) => countCommonWords(test, path)))
  const importing = reaching('import')
  const starting = reaching('start')
    .filter((test) => !importing.includes(test))
    .sort((a, b) => likeness(b) - likeness(a) || secondsOf(a) - secondsOf(b))
  let left = BUDGET_SECONDS - importing.reduce((sum, test) => sum + secondsOf(test), 0)
  const taken = starting.filter((test) => {
    if (secondsOf(test) > left) return false
    left -= secondsOf(test)
    return true
  })
  const omitted = starting.length - taken.length
  return {
    files: [...importing, ...taken],
    lines: [
      `${changed.length} changed files reach ${importing.length} test files; ${starting.length} more start a program with them.`,
      ...(omitted > 0 ? [`${omitted} of these are left out to end within 2 minutes; scripts/test runs them.`] : []),
    ],
  }
}

/** Number of words that the folder and file names of both paths share. */
function countCommonWords(test: string, path: string): number {
  const words = (name: string) => name.replace(/(\.test)?\.\w+$/, '').split(/[/.-]/)
  const of = words(path)
  return new Set(words(test).filter((word) => of.includes(word))).size
}
