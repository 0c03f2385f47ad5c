import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../stack/session.ts'
import { type Counts, countTests } from '../stack/test-counts.ts'
import { userCache } from '../stack/user-cache.ts'
import { ALLOWED_SKIPS } from './allowed-skips.ts'
import type { TestArguments } from './arguments.ts'
import { keepDurations } from './durations.ts'
import { presentFailures, presentRetried } from './failures.ts'
import { runGroups } from './groups.ts'
import { joinProcessorGroup, readGroupTime, readProcessorTime } from './processor-time.ts'
import { presentProfile } from './profile.ts'
import { runFailedAgain } from './run-again.ts'
import { findSkips, presentSkips, sortSkips } from './skips.ts'

/**
 * Max minutes of a run. A run without long forms takes up to an hour on two cores; a hanging test is reported before the 90-minute limit of continuous
 * integration.
 */
const MAX_MINUTES = 85

/**
 * Runs the test files below these paths, or all, and prints skipped tests with reasons, and failures. After a complete run,
 * failed files run again on the otherwise idle machine; tests that then pass are listed.
 */
export async function runTests(paths: readonly string[], settings: TestArguments): Promise<Counts> {
  const { long, allowMissing, options, profile } = settings
  const folder = await mkdtemp(join(tmpdir(), 'drape-profile-'))
  const profilePath = join(folder, 'costs')
  const group = String(process.pid)
  if (profile) joinProcessorGroup(group)
  const startedAt = Date.now()
  const env = {
    ...(long ? { LONG_TESTS: '1' } : { TEST_DEADLINE: String(Date.now() + MAX_MINUTES * 60_000) }),
    ...(allowMissing ? { ALLOW_MISSING: '1' } : {}),
    ...(profile ? { TEST_PROFILE: profilePath, TEST_PROFILE_GROUP: group } : {}),
    // Compiles repeatedly started programs once.
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? userCache('compiled'),
  }
  const first = await runGroups(paths, options, env)
  const { report, succeeded } = paths.length === 0 ? await runFailedAgain(first, [...options], env) : first
  if (profile) {
    const lines = (await readFile(profilePath, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
    const costs = lines.map((line) => JSON.parse(line))
    const processorSeconds = readGroupTime(group) ?? readProcessorTime().children
    console.log(presentProfile(costs, { startedAt, seconds: (Date.now() - startedAt) / 1000, processorSeconds }))
  }
  await rm(folder, { recursive: true })
  const counts = countTests(report, succeeded)
  if (report !== null && first.report !== null)
    for (const line of [...presentRetried(first.report, report), ...presentFailures(report)]) console.log(line)
  // A name filter skips all other tests.
  if (report === null || options.some((option) => /^(-t|--testNamePattern)/.test(option))) return counts
  if (!long) keepDurations(report)
  const circumstances = {
    long,
    isRoot: process.getuid?.() === 0,
    hasAssets: Boolean(process.env.KUBEBUILDER_ASSETS),
    hasHistory: hasHistory(),
  }
  const skips = sortSkips(findSkips(report), ALLOWED_SKIPS, circumstances)
  for (const line of presentSkips(skips, allowMissing)) console.log(line)
  if (allowMissing) return counts
  const unexplained = skips.unexplained.length
  return { ...counts, failed: counts.failed + unexplained, skipped: counts.skipped - unexplained }
}

/** False in a shallow clone, and outside a git repository. */
function hasHistory(): boolean {
  const { stdout } = spawnSync('git', ['rev-parse', '--is-shallow-repository'], { cwd: ROOT, encoding: 'utf8' })
  return stdout?.trim() === 'false'
}
