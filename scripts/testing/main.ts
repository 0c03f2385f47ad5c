import { run } from '../stack/commands.ts'
import { ROOT, say } from '../stack/session.ts'
import { type Counts, presentCounts } from '../stack/test-counts.ts'
import { readTestArguments, type TestArguments } from './arguments.ts'
import { findChangedTests } from './changed.ts'
import { installMissing } from './install.ts'
import { findLane, getLane, groupLanes, LANE_NAMES, type LaneName, listFiles } from './lanes.ts'
import { findNames } from './requirements.ts'
import { type LaneFiles, type LaneResult, runLane } from './run-tests.ts'

/** Lanes that run at the same time after the default one: they wait for processes most of the time. */
const CONCURRENT_LANES = 3
/** Scripts of package.json that check the sources, beside the default lane. */
const SOURCE_CHECKS = ['typecheck', 'lint'] as const
const NONE: Counts = { passed: 0, failed: 0, skipped: 0 }

const settings = readSettings()
const startedAt = Date.now()
const deadline = settings.minutes === undefined ? undefined : startedAt + settings.minutes * 60_000
const counts = await runAll(settings)
console.log(presentCounts(counts))
process.exitCode = counts.failed === 0 ? 0 : 1

function readSettings(): TestArguments {
  try {
    return readTestArguments(process.argv.slice(2))
  } catch (error) {
    say(error instanceof Error ? error.message : String(error))
    process.exit(2)
  }
}

async function runAll({ changedSince, lanes, paths, allowMissing }: TestArguments): Promise<Counts> {
  if (changedSince !== undefined) return runChanged(changedSince)
  if (lanes.length === 0) return runParts(splitByLane(paths))
  const parts = lanes.map((lane) => ({ lane, files: listFiles(lane, paths) })).filter(({ files }) => files.length > 0)
  if (paths.length > 0) return runParts(parts)
  const missing = allowMissing ? [] : await findMissing(lanes)
  for (const line of missing) console.log(line)
  return missing.length > 0 ? { ...NONE, failed: missing.length } : runLanes(parts)
}

async function runChanged(since: string): Promise<Counts> {
  const changed = await findChangedTests(since)
  for (const line of changed.lines) console.log(line)
  return runParts(splitByLane(changed.files, (file, path) => file === path))
}

/** The files below these paths, each with the workers of its lane. vitest rejects a path without files. */
function splitByLane(
  paths: readonly string[],
  matches = (file: string, path: string) => file.includes(path),
): LaneFiles[] {
  if (paths.length === 0) return []
  const files = LANE_NAMES.filter((lane) => lane !== 'long').flatMap((lane) => listFiles(lane))
  const chosen = files.filter((file) => paths.some((path) => matches(file, path)))
  const unknown = paths.filter((path) => !files.some((file) => matches(file, path)))
  const byLane = Map.groupBy(chosen, findLane)
  const parts = [...byLane].map(([lane, files]) => ({ lane, files }))
  return unknown.length === 0 ? parts : [...parts, { lane: 'default', files: unknown }]
}

async function runParts(parts: readonly LaneFiles[]): Promise<Counts> {
  const results = await Promise.all(parts.map((part) => runLane(part, settings, deadline)))
  for (const line of results.flatMap(({ lines }) => lines)) console.log(line)
  return sumCounts(results.map((result) => result.counts))
}

/**
 * The groups of lanes in turn. The checks of the sources run beside the default lane. What failed is printed at the end, because
 * logs are often cut at the start.
 */
async function runLanes(parts: readonly LaneFiles[]): Promise<Counts> {
  const missed: string[] = []
  const outcomes: string[] = []
  const runPart = async (part: LaneFiles): Promise<Counts> => {
    const from = Date.now()
    const result = await runLane(part, settings, deadline)
    const { counts, lines } = judge(part, result)
    missed.push(...lines)
    outcomes.push(...result.lines)
    console.log(`Lane ${part.lane}: ${presentCounts(counts)} in ${((Date.now() - from) / 60_000).toFixed(1)} min`)
    return counts
  }
  const all: Counts[] = []
  for (const group of groupLanes(parts)) {
    const queue = [...group]
    const takeTurns = async () => {
      for (let part = queue.shift(); part !== undefined; part = queue.shift()) all.push(await runPart(part))
    }
    const checks = group.some(({ lane }) => lane === 'default') ? SOURCE_CHECKS.map(checkSources) : []
    const turns = Array.from({ length: CONCURRENT_LANES }, takeTurns)
    const [checked] = await Promise.all([Promise.all(checks), ...turns])
    all.push(...checked.map(({ counts }) => counts))
    outcomes.push(...checked.flatMap(({ lines }) => lines))
  }
  for (const line of outcomes) console.log(line)
  for (const line of presentMissed(parts, missed)) console.log(line)
  return sumCounts(all)
}

/** A deadline may cut off any lane but the default one, which takes minutes: there it is a hanging test. */
function judge({ lane, files }: LaneFiles, { counts, unfinished }: LaneResult): { counts: Counts; lines: string[] } {
  if (unfinished.length === 0) return { counts, lines: [] }
  if (lane === 'default') return { counts: { ...counts, failed: counts.failed + unfinished.length }, lines: [] }
  const amount = unfinished.length === files.length ? 'all' : `${unfinished.length} of ${files.length}`
  return { counts, lines: [`${lane} (${amount} files)`] }
}

/** The last line but one of a run, if it left out anything. */
function presentMissed(parts: readonly LaneFiles[], missed: readonly string[]): string[] {
  const others = LANE_NAMES.filter((name) => !parts.some(({ lane }) => lane === name))
  const names = [...missed, ...others]
  return names.length > 0 ? [`Not run: ${names.join(', ')}. Run one with scripts/test --lane NAME.`] : []
}

async function checkSources(script: (typeof SOURCE_CHECKS)[number]): Promise<{ counts: Counts; lines: string[] }> {
  try {
    await run('npm', ['run', '--silent', script], { cwd: ROOT })
    console.log(`npm run ${script}: passed`)
    return { counts: { ...NONE, passed: 1 }, lines: [] }
  } catch (error) {
    console.log(`npm run ${script}: failed`)
    const line = `npm run ${script}: ${error instanceof Error ? error.message : error}`
    return { counts: { ...NONE, failed: 1 }, lines: [line] }
  }
}

/** Requirements are installed first, so that a missing one fails the run immediately and not in the middle. */
async function findMissing(lanes: readonly LaneName[]): Promise<string[]> {
  const lines = await installMissing(findNames(lanes))
  const isRoot = process.getuid?.() === 0
  const needing = isRoot ? [] : lanes.filter((lane) => getLane(lane).root)
  return [...lines, ...needing.map((lane) => `Only root can run the lane ${lane}: it builds images and starts nodes.`)]
}

function sumCounts(all: readonly Counts[]): Counts {
  return all.reduce(
    (sum, { passed, failed, skipped }) => ({
      passed: sum.passed + passed,
      failed: sum.failed + failed,
      skipped: sum.skipped + skipped,
    }),
    NONE,
  )
}
