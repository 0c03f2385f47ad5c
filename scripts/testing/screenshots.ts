import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Folder of the previous run, inside the folder of the screenshots. */
const LAST = 'last'
/** File in the folder of the screenshots that marks a run without failures. */
const COMPLETE = 'complete'

/** Names of screenshots, compared with those of the run before. */
interface Comparison {
  readonly equal: readonly string[]
  readonly changed: readonly string[]
  readonly added: readonly string[]
  readonly missing: readonly string[]
}

/** Marks the run whose screenshots are in the folder as complete. */
function markComplete(folder: string): void {
  writeFileSync(join(folder, COMPLETE), '')
}

/**
 * Keeps the screenshots of the folder as those of the previous run. Those of a run that was aborted or failed replace
 * only the screenshots of the same name: the next run is still compared with all others.
 */
function keepLastScreenshots(folder: string): void {
  const names = listScreenshots(folder)
  if (names.length === 0) return
  const [last, mark] = [join(folder, LAST), join(folder, COMPLETE)]
  if (existsSync(mark)) rmSync(last, { recursive: true, force: true })
  rmSync(mark, { force: true })
  mkdirSync(last, { recursive: true })
  for (const name of names) renameSync(join(folder, name), join(last, name))
}

/** Compares the bytes of the screenshots with those of the previous run; null if there was none. */
function compareScreenshots(folder: string): Comparison | null {
  const last = join(folder, LAST)
  const [now, before] = [listScreenshots(folder), listScreenshots(last)]
  if (before.length === 0) return null
  const both = now.filter((name) => before.includes(name))
  const isEqual = (name: string) => readFileSync(join(folder, name)).equals(readFileSync(join(last, name)))
  const equal = both.filter(isEqual)
  return {
    equal,
    changed: both.filter((name) => !equal.includes(name)),
    added: now.filter((name) => !before.includes(name)),
    missing: before.filter((name) => !now.includes(name)),
  }
}

function listScreenshots(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.png'))
      .sort()
  } catch {
    return []
  }
}

/** The comparison as lines for people. */
function describeComparison(comparison: Comparison | null): string[] {
  if (comparison === null) return ['There are no screenshots of an earlier run to compare with.']
  const { equal, changed, added, missing } = comparison
  const line = (title: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${title}: ${names.join(', ')}`]
  return [
    `${equal.length} of ${equal.length + changed.length + added.length} screenshots are equal to those of the last run.`,
    ...[...line('Changed', changed), ...line('New', added), ...line('Missing', missing)],
  ]
}

if (import.meta.main) {
  const [action, folder] = process.argv.slice(2)
  if (action === 'keep') keepLastScreenshots(folder)
  else if (action === 'complete') markComplete(folder)
  else for (const line of describeComparison(compareScreenshots(folder))) console.log(line)
}
