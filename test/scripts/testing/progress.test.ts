import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../../../scripts/stack/session.ts'

it('a run that hangs ends at its time limit and names the test', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-time-limit-'))
  try {
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
    const test = `import { it } from 'vitest'\nit('never ends', () => new Promise(() => setInterval(() => {}, 1000)), 600_000)\n`
    await writeFile(join(folder, 'hang.test.ts'), test)
    const { exitCode, output } = await runVitest(folder, Date.now() + 12_000)
    expect(exitCode).toBe(1)
    expect(output).toContain('Unfinished:\n')
    expect(output).toContain('  hang.test.ts: never ends, for 0 min')
  } finally {
    await rm(folder, { recursive: true })
  }
})

function runVitest(folder: string, deadline: number): Promise<{ exitCode: unknown; output: string }> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const reporter = `--reporter=${join(ROOT, 'scripts/testing/time-limit.ts')}`
  const env = { PATH: process.env.PATH, TEST_DEADLINE: String(deadline) }
  return new Promise((resolve) =>
    execFile(process.execPath, [vitest, 'run', '--root', folder, reporter], { env }, (error, output) =>
      resolve({ exitCode: error === null ? 0 : error.code, output }),
    ),
  )
}
