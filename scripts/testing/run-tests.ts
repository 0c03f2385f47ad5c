import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../stack/session.ts'
import { type Counts, countTests } from '../stack/test-counts.ts'
import { ALLOWED_SKIPS } from './allowed-skips.ts'
import type { TestArguments } from './arguments.ts'
import { keepDurations } from './durations.ts'
import { presentFailures, presentRetried } from './failures.ts'
import { runGroups } from './groups.ts'
import { readProcessorTime } from './processor-time.ts'
import { presentProfile } from './profile.ts'
import { runFailedAgain } from './run-again.ts'
import { findSkips, presentSkips, sortSkips } from './skips.ts'

/** A run without long forms takes half an hour; what hangs is named before the 90 minutes of continuous integration are over. */
const MAX_MINUTES = 80

/**
 * Runs the test files below these paths, all without any, and prints what was skipped and why, and what failed. After a run of
 * all files those that failed run again, with nothing beside them, and are named when they then pass.
 */
export async function runTests(paths: readonly string[], settings: TestArguments): Promise<Counts> {
  const { long, allowMissing, options, profile } = settings
  const folder = await mkdtemp(join(tmpdir(), 'drape-profile-'))
  const profilePath = join(folder, 'costs')
  const before = readProcessorTime()
  const env = {
    ...(long ? { LONG_TESTS: '1' } : { TEST_DEADLINE: String(Date.now() + MAX_MINUTES * 60_000) }),
    ...(allowMissing ? { ALLOW_MISSING: '1' } : {}),
    ...(profile ? { TEST_PROFILE: profilePath } : {}),
    // Programs that tests start again and again are compiled once.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? join(ROOT, '.cache/compiled'),
  }
  const first = await runGroups(paths, options, env)
  const { report, succeeded } = paths.length === 0 ? await runFailedAgain(first, [...options], env) : first
  if (profile) {
    const lines = (await readFile(profilePath, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
    const seconds = readProcessorTime().children - before.children
    console.log(
      presentProfile(
        lines.map((line) => JSON.parse(line)),
        seconds,
      ),
    )
  }
  await rm(folder, { recursive: true })
  const counts = countTests(report, succeeded)
  if (report !== null && first.report !== null)
    for (const line of [...presentRetried(first.report, report), ...presentFailures(report)]) console.log(line)
  // A filter by name leaves out all other tests.
  if (report === null || options.some((option) => /^(-t|--testNamePattern)/.test(option))) return counts
  if (!long) keepDurations(report)
  const circumstances = { long, isRoot: process.getuid?.() === 0, hasAssets: Boolean(process.env.KUBEBUILDER_ASSETS) }
  const skips = sortSkips(findSkips(report), ALLOWED_SKIPS, circumstances)
  for (const line of presentSkips(skips, allowMissing)) console.log(line)
  if (allowMissing) return counts
  const unexplained = skips.unexplained.length
  return { ...counts, failed: counts.failed + unexplained, skipped: counts.skipped - unexplained }
}
