import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../../scripts/stack/session.ts'

it('a run prints its progress; one that hangs ends at its time limit and names the test', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-time-limit-'))
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const test = `import { it } from 'vitest'\nit('never ends', () => new Promise(() => setInterval(() => {}, 1000)), 600_000)\n`
    await writeFile(join(folder, 'hang.test.ts'), test)
    await writeFile(join(folder, 'quick.test.ts'), `import { it } from 'vitest'\nit('ends', () => {})\n`)
    const unfinished = join(folder, 'unfinished')
    const { exitCode, output } = await runVitest(folder, { deadline: Date.now() + 12_000, unfinished })
    expect(exitCode).toBe(1)
    expect(output).toMatch(/^Lane default: 1 of 2 files.* The time limit is exceeded. Unfinished:$/m)
    expect(output).toContain('  hang.test.ts: never ends, for 0 min')
    expect(await readFile(unfinished, 'utf8')).toBe('hang.test.ts')
  } finally {
    await rm(folder, { recursive: true })
  }
})

function runVitest(
  folder: string,
  { deadline, unfinished }: { deadline: number; unfinished: string },
): Promise<{ exitCode: unknown; output: string }> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const reporter = `--reporter=${join(ROOT, 'scripts/testing/progress.ts')}`
  const env = {
    PATH: process.env.PATH,
    TEST_DEADLINE: String(deadline),
    TEST_UNFINISHED: unfinished,
    TEST_LANE: 'default',
  }
  return new Promise((resolve) =>
    execFile(
      process.execPath,
      [vitest, 'run', '--maxWorkers=2', '--root', folder, reporter],
      { env },
      (error, output) => resolve({ exitCode: error === null ? 0 : error.code, output }),
    ),
  )
}
