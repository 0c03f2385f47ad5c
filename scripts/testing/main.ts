import { run } from '../stack/commands.ts'
import { ROOT } from '../stack/session.ts'
import { type Counts, presentCounts } from '../stack/test-counts.ts'
import { readTestArguments } from './arguments.ts'
import { findChangedTests } from './changed.ts'
import { installMissing } from './install.ts'
import { runLongForms } from './long-forms.ts'
import { findAllNames } from './requirements.ts'
import { runTests } from './run-tests.ts'

const settings = readTestArguments(process.argv.slice(2))
const { paths, long, longAll, changedSince, allowMissing } = settings
const isRoot = process.getuid?.() === 0
const isComplete = paths.length === 0 && !longAll && changedSince === undefined

const missing = isComplete && !allowMissing ? await findMissing() : []
for (const line of missing) console.log(line)
const counts = missing.length > 0 ? { passed: 0, failed: missing.length, skipped: 0 } : await runAll()
console.log(presentCounts(counts))
process.exitCode = counts.failed === 0 ? 0 : 1

async function runAll(): Promise<Counts> {
  if (longAll) return runLongForms(settings)
  if (changedSince !== undefined) {
    const changed = await findChangedTests(changedSince)
    for (const line of changed.lines) console.log(line)
    return changed.files.length === 0 ? { passed: 0, failed: 0, skipped: 0 } : runTests(changed.files, settings)
  }
  // Test files wait for services to start while the type check runs.
  const [tests, problems] = await Promise.all([runTests(paths, settings), isComplete ? checkSources() : []])
  for (const problem of problems) if (problem !== '') console.log(problem)
  return {
    passed: tests.passed + problems.filter((problem) => problem === '').length,
    failed: tests.failed + problems.filter((problem) => problem !== '').length,
    skipped: tests.skipped,
  }
}

async function checkSources(): Promise<string[]> {
  return [await checkScript('typecheck'), await checkScript('lint')]
}

/** A complete run installs all requirements first, so that a missing one fails the run immediately and not after an hour. */
async function findMissing(): Promise<string[]> {
  const lines = await installMissing(findAllNames({ isRoot, long }))
  return isRoot ? lines : [...lines, 'Only root can build container images and start a real node: run this as root.']
}

/** The output of a failed script; empty on success. */
async function checkScript(name: string): Promise<string> {
  try {
    await run('npm', ['run', '--silent', name], { cwd: ROOT })
    return ''
  } catch (error) {
    return `npm run ${name}: ${error instanceof Error ? error.message : error}`
  }
}
