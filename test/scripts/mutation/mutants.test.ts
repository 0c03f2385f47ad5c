import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { applyMutant } from '../../../scripts/mutation/mutant.ts'
import { findMutants } from '../../../scripts/mutation/mutants.ts'
import { sample, scoreFile } from '../../../scripts/mutation/score.ts'
import { ROOT } from '../../../scripts/stack/session.ts'

const mutate = (text: string) => findMutants(text).map((mutant) => applyMutant(text, mutant))

it('mutates conditions, operators, numbers and statements, but no types', () => {
  expect(mutate('if (a > 1 && b) f()').sort()).toEqual(
    [
      'if (a >= 1 && b) f()',
      'if (a > 1 || b) f()',
      'if (a > 2 && b) f()',
      'if (true) f()',
      'if (false) f()',
      'if (a > 1 && b) ;',
    ].sort(),
  )
  expect(mutate('type A = 1 | true')).toEqual([])
})

it('drops SQL conditions and locks', () => {
  const sql = 'const q = sql`select 1 from t\n where a = $' + '{a}\n and b > c\n for update`'
  expect(mutate(sql)).toEqual([
    sql.replace(' and b > c', ''),
    sql.replace('b > c', 'b >= c'),
    sql.replace('for update', ''),
  ])
})

it('draws the same sample for the same seed', () => {
  const items = Array.from({ length: 50 }, (_, i) => i)
  expect(sample(items, 5, 7)).toEqual(sample(items, 5, 7))
  expect(sample(items, 5, 7)).toHaveLength(5)
  expect(sample(items, 5, 7)).not.toEqual(sample(items, 5, 8))
})

it('reports surviving mutants, and restores the file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-mutation-test-'))
  try {
    await mkdir(join(folder, 'test'))
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const source = 'export const isMany = (n: number) => n > 5\n'
    await writeFile(join(folder, 'many.ts'), source)
    await writeFile(
      join(folder, 'test/many.test.ts'),
      "import { expect, it } from 'vitest'\nimport { isMany } from '../many.ts'\n" +
        "it('counts', () => { expect(isMany(6)).toBe(true); expect(isMany(4)).toBe(false) })\n",
    )
    const score = await scoreFile(folder, 'many.ts', { tests: ['test/many.test.ts'], choose: (all) => all })
    expect(score).toEqual({ mutants: 2, killed: 1, survivors: ['many.ts:1: > → >='] })
    expect(await readFile(join(folder, 'many.ts'), 'utf8')).toBe(source)
  } finally {
    await rm(folder, { recursive: true })
  }
})
