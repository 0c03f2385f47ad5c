import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { passes } from './copy.ts'
import { applyMutant, type Mutant, presentMutant } from './mutant.ts'
import { findMutants } from './mutants.ts'

export interface Score {
  readonly mutants: number
  readonly killed: number
  readonly survivors: readonly string[]
}

/** Runs the tests against each mutant of a file in a copy of the tree. Restores the file afterwards. */
export async function scoreFile(
  folder: string,
  path: string,
  { tests, choose }: { tests: readonly string[]; choose: (mutants: readonly Mutant[]) => readonly Mutant[] },
): Promise<Score> {
  const place = join(folder, path)
  const text = await readFile(place, 'utf8')
  const startedAt = performance.now()
  if (!(await passes(folder, tests, 300_000))) {
    throw new Error(`${tests.join(' ')} fails without any change: make it pass first.`)
  }
  // A mutant can loop forever.
  const maxMs = 10_000 + 3 * (performance.now() - startedAt)
  const mutants = choose(findMutants(text))
  const survivors: string[] = []
  try {
    for (const mutant of mutants) {
      await writeFile(place, applyMutant(text, mutant))
      if (await passes(folder, tests, maxMs)) survivors.push(`${path}:${presentMutant(text, mutant)}`)
    }
  } finally {
    await writeFile(place, text)
  }
  return { mutants: mutants.length, killed: mutants.length - survivors.length, survivors }
}

/** At most `max` of these, deterministic per seed, in their order. */
export function sample<T>(items: readonly T[], max: number, seed: number): T[] {
  let state = seed >>> 0
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state
  }
  const chosen = new Set(
    items
      .map((item) => ({ item, order: random() }))
      .sort((a, b) => a.order - b.order)
      .slice(0, max)
      .map(({ item }) => item),
  )
  return items.filter((item) => chosen.has(item))
}
