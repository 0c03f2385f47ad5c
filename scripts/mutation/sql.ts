import type { Mutant } from './mutant.ts'

const CHANGES: readonly [RegExp, (found: string) => string][] = [
  // A condition on its own line, unless it has an open bracket or ends the template.
  [/^[ \t]*and [^\n`]*$/gm, () => ''],
  [/\bfor (?:no key )?update(?: of \w+)?(?: skip locked)?/g, () => ''],
  [/ [<>] /g, (found) => `${found.trimEnd()}= `],
  [/ [<>]= /g, (found) => found.replace('=', '')],
]

/** Mutants of the SQL in the template from `from` to `to`. */
export function mutateSql(text: string, from: number, to: number): Mutant[] {
  const sql = text.slice(from, to)
  return CHANGES.flatMap(([pattern, change]) =>
    [...sql.matchAll(pattern)]
      .filter(([found]) => isBalanced(found))
      .map(({ 0: found, index }) => ({
        start: from + index,
        end: from + index + found.length,
        replacement: change(found),
      })),
  )
}

function isBalanced(text: string): boolean {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0
  return count(/[({]/g) === count(/[)}]/g)
}
