import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'
import { failOutside } from './reports.ts'

const PROGRESS = join(import.meta.dirname, 'progress.ts')

export interface VitestRun {
  /** Null if vitest exited without a report. */
  readonly report: TestReport | null
  readonly succeeded: boolean
}

/** Runs vitest with these arguments and resolves with its JSON report. Ctrl-C and SIGTERM stop vitest gracefully. */
export async function runVitest(args: readonly string[], env: NodeJS.ProcessEnv): Promise<VitestRun> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-report-'))
  try {
    const [path, errorsPath] = [join(folder, 'report.json'), join(folder, 'errors.json')]
    const succeeded = await spawnVitest(
      ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`, `--reporter=${PROGRESS}`, ...args],
      { ...env, TEST_ERRORS: errorsPath },
    )
    const report: TestReport | null = JSON.parse(await readFile(path, 'utf8').catch(() => 'null'))
    const errors = JSON.parse(await readFile(errorsPath, 'utf8').catch(() => '[]'))
    return { report: report && failOutside(report, errors), succeeded }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function spawnVitest(args: readonly string[], env: NodeJS.ProcessEnv): Promise<boolean> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  const terminate = () => void child.kill('SIGTERM')
  // Ctrl-C in a terminal reaches vitest, too; this process waits for its clean-up.
  const wait = () => {}
  process.on('SIGINT', wait).on('SIGTERM', terminate)
  const [code] = await once(child, 'exit')
  process.off('SIGINT', wait).off('SIGTERM', terminate)
  return code === 0
}
