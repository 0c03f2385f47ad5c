import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { run } from './stack/commands.ts'
import { ROOT } from './stack/session.ts'
import { type Counts, countTests, presentCounts } from './stack/test-counts.ts'

const { paths, options, long } = readArguments(process.argv.slice(2))
const scripts = paths.length === 0 ? [await checkScript('typecheck'), await checkScript('lint')] : []
const tests = await runTests()
const total: Counts = {
  passed: tests.passed + scripts.filter((ok) => ok).length,
  failed: tests.failed + scripts.filter((ok) => !ok).length,
  skipped: tests.skipped,
}
console.log(presentCounts(total))
process.exitCode = total.failed === 0 ? 0 : 1

function readArguments(all: readonly string[]): { paths: string[]; options: string[]; long: boolean } {
  const paths = all.filter((argument) => !argument.startsWith('-'))
  return {
    // A path may be given from the folder in which the command was called; vitest reads it from the clone's.
    paths: paths.map((path) => (existsSync(path) ? relative(ROOT, path) : path)),
    options: all.filter((argument) => argument.startsWith('-') && argument !== '--long'),
    long: all.includes('--long'),
  }
}

async function checkScript(name: string): Promise<boolean> {
  console.log(`npm run ${name} …`)
  try {
    await run('npm', ['run', '--silent', name], { cwd: ROOT })
    return true
  } catch (error) {
    console.log(error instanceof Error ? error.message : error)
    return false
  }
}

async function runTests(): Promise<Counts> {
  const folder = await mkdtemp(join(tmpdir(), 'drape-report-'))
  try {
    const reportPath = join(folder, 'report.json')
    const succeeded = await runVitest(reportPath)
    return countTests(JSON.parse(await readFile(reportPath, 'utf8').catch(() => 'null')), succeeded)
  } finally {
    await rm(folder, { recursive: true })
  }
}

async function runVitest(reportPath: string): Promise<boolean> {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportPath}`]
  const child = spawn(process.execPath, [vitest, 'run', ...reporters, ...options, ...paths], {
    cwd: ROOT,
    env: { ...process.env, ...(long ? { LONG_TESTS: '1' } : {}) },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  // Ctrl-C in a terminal reaches vitest as well; this process waits until it has tidied up.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const [code] = await once(child, 'exit')
  return code === 0
}
