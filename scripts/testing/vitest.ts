import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../stack/session.ts'
import type { TestReport } from '../stack/test-counts.ts'

const TIME_LIMIT = join(import.meta.dirname, 'time-limit.ts')

export interface VitestRun {
  /** Null if vitest exited without a report. */
  readonly report: TestReport | null
  readonly succeeded: boolean
}

/**
 * Runs vitest with these arguments and resolves with its JSON report. Ctrl-C and SIGTERM stop vitest gracefully. `niceness` is that of
 * its processes, as for nice(1).
 */
export async function runVitest(args: readonly string[], env: NodeJS.ProcessEnv, niceness = 0): Promise<VitestRun> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-report-'))
  try {
    const path = join(folder, 'report.json')
    const succeeded = await spawnVitest(
      ['--reporter=default', '--reporter=json', `--outputFile.json=${path}`, `--reporter=${TIME_LIMIT}`, ...args],
      env,
      niceness,
    )
    return { report: JSON.parse(await readFile(path, 'utf8').catch(() => 'null')), succeeded }
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function spawnVitest(args: readonly string[], env: NodeJS.ProcessEnv, niceness: number): Promise<boolean> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', ...args], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (niceness > 0 && child.pid !== undefined) setPriority(child.pid, niceness)
  const terminate = () => void child.kill('SIGTERM')
  // Ctrl-C in a terminal reaches vitest, too; this process waits for its clean-up.
  const wait = () => {}
  process.on('SIGINT', wait).on('SIGTERM', terminate)
  const [code] = await once(child, 'exit')
  process.off('SIGINT', wait).off('SIGTERM', terminate)
  return code === 0
}
