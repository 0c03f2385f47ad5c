import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { run } from './stack/commands.ts'

const ROOT = resolve(import.meta.dirname, '..')

interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** The part of vitest's JSON report that is read here. */
interface Report {
  numPassedTests: number
  numFailedTests: number
  numPendingTests: number
  numTodoTests: number
  testResults: { status: string; assertionResults: unknown[] }[]
}

const { paths, options, long } = readArguments(process.argv.slice(2))
const counts: Counts = { passed: 0, failed: 0, skipped: 0 }
if (paths.length === 0) for (const script of ['typecheck', 'lint']) await countScript(script)
await countTests()
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : ''
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed${skipped}\n`)
process.exitCode = counts.failed === 0 && counts.passed > 0 ? 0 : 1

function readArguments(all: readonly string[]): { paths: string[]; options: string[]; long: boolean } {
  const paths = all.filter((argument) => !argument.startsWith('-'))
  return {
    // A path may be given from the folder in which the command was called; vitest reads it from the clone's.
    paths: paths.map((path) => (existsSync(path) ? relative(ROOT, path) : path)),
    options: all.filter((argument) => argument.startsWith('-') && argument !== '--long'),
    long: all.includes('--long'),
  }
}

async function countScript(script: string): Promise<void> {
  console.log(`npm run ${script} …`)
  try {
    await run('npm', ['run', '--silent', script], { cwd: ROOT })
    counts.passed++
  } catch (error) {
    console.log(error instanceof Error ? error.message : error)
    counts.failed++
  }
}

async function countTests(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-report-'))
  try {
    const reportPath = join(folder, 'report.json')
    const ok = await runVitest(reportPath)
    addReport(JSON.parse(await readFile(reportPath, 'utf8').catch(() => 'null')), ok)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function runVitest(reportPath: string): Promise<boolean> {
  const vitest = resolve(ROOT, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`]
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...options, ...paths], {
    cwd: ROOT,
    env: { ...process.env, ...(long ? { LONG_TESTS: '1' } : {}) },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  // Ctrl-C reaches vitest as well; this process waits for its tidying up.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  const [code] = await once(child, 'exit')
  return code === 0
}

function addReport(report: Report | null, ok: boolean): void {
  const failedBefore = counts.failed
  if (report !== null) {
    counts.passed += report.numPassedTests
    // A file that cannot be loaded has no tests, but it has failed.
    const brokenFiles = report.testResults.filter(
      (file) => file.status === 'failed' && file.assertionResults.length === 0,
    )
    counts.failed += report.numFailedTests + brokenFiles.length
    counts.skipped += report.numPendingTests + report.numTodoTests
  }
  // No report, no test found, an error outside of any test.
  if (!ok && counts.failed === failedBefore) counts.failed++
}
