import { readFile, writeFile } from 'node:fs/promises'
import { readYaml } from '../controller/runtime/yaml.ts'
import { type ScalingRules, scalingPolicies } from '../controller/scaling-policy/resource.ts'
import { workerPools } from '../controller/worker-pool/resource.ts'
import { type Arrival, type Simulation, simulate } from '../controller/worker-pool/simulate.ts'
import { highestCost } from '../controller/worker-pool/tiers.ts'
import { type Options, required, UsageError, wholeNumber } from './command-options.ts'
import { plotSimulation } from './simulation-plot.ts'

/** Plays a trace of jobs against the rules in a YAML file. Returns decisions, waits and cost; draws them where asked. */
export async function simulateCommand(options: Options): Promise<Record<string, unknown>> {
  const { rules, slotsPerReplica, hourlyCost } = await readRules(required(options.policy, 'policy'))
  const trace = options.trace
    ? parseTrace(await readText(options.trace))
    : generateTrace({
        jobsPerMinute: wholeNumber(options['jobs-per-minute'] ?? '60', 'jobs-per-minute', 0),
        minutes: wholeNumber(options.minutes ?? '60', 'minutes', 1),
        seed: wholeNumber(options.seed ?? '1', 'seed', 0),
      })
  const startsAt = new Date(options['starts-at'] ?? '2026-01-05T08:00:00Z')
  if (Number.isNaN(startsAt.getTime())) throw new UsageError('--starts-at must be a time as in 2026-01-05T08:00:00Z')
  const simulation = simulate({
    ...{ rules, slotsPerReplica, hourlyCost, startsAt, ...trace },
    secondsPerJob: wholeNumber(options['seconds-per-job'] ?? '3', 'seconds-per-job', 1),
    startSeconds: wholeNumber(options['start-seconds'] ?? '30', 'start-seconds', 0),
  })
  if (options.plot) await writeFile(options.plot, plotSimulation(simulation.moments))
  return present(simulation)
}

async function readRules(path: string) {
  for (const document of readYaml(await readText(path))) {
    const { kind } = document as { kind?: string }
    if (kind === 'ScalingPolicy')
      return { rules: objectOf(scalingPolicies.read(named(document))).spec, slotsPerReplica: 1, hourlyCost: 0 }
    if (kind !== 'WorkerPool') continue
    const pool = objectOf(workerPools.read(named(document)))
    const { scaling, slotsPerReplica } = pool.spec
    if (scaling.policy) return { rules: scaling.policy as ScalingRules, slotsPerReplica, hourlyCost: highestCost(pool) }
  }
  throw new UsageError(`${path} has neither a ScalingPolicy nor a WorkerPool with a policy of its own`)
}

function named(document: unknown): unknown {
  return { metadata: {}, ...(document as object) }
}

function objectOf<T>(read: { readonly object: T } | { readonly problems: string }): T {
  if ('problems' in read) throw new UsageError(read.problems)
  return read.object
}

async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => {
    throw new UsageError(`${path} cannot be read`)
  })
}

function parseTrace(text: string): { arrivals: Arrival[]; seconds: number } {
  const lines = text.split('\n').filter((line) => /^\d/.test(line))
  const arrivals = lines.map((line) => {
    const [second, jobs] = line.split(',').map(Number)
    if (!Number.isInteger(second) || !Number.isInteger(jobs) || jobs < 0)
      throw new UsageError(`The trace has a line "${line}"`)
    return { second, jobs }
  })
  return { arrivals, seconds: Math.max(0, ...arrivals.map(({ second }) => second)) + 1 }
}

/** Poisson arrivals, by Knuth, The Art of Computer Programming, vol. 2, 3.4.1; the same for the same seed. */
function generateTrace({ jobsPerMinute, minutes, seed }: { jobsPerMinute: number; minutes: number; seed: number }) {
  let state = seed >>> 0
  // Mulberry32 (public domain, Tommy Ettinger).
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const none = Math.exp(-jobsPerMinute / 60)
  const seconds = minutes * 60
  const arrivals = Array.from({ length: seconds }, (_, second) => {
    let jobs = -1
    for (let product = 1; product > none; product *= next()) jobs++
    return { second, jobs }
  })
  return { arrivals: arrivals.filter(({ jobs }) => jobs > 0), seconds }
}

function present({ waits, decisions, moments, cost, turns }: Simulation): Record<string, unknown> {
  const sorted = [...waits].sort((a, b) => a - b)
  const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return {
    jobs: waits.length,
    seconds: moments.length,
    waitSeconds: { median: share(0.5), p95: share(0.95), longest: sorted.at(-1) ?? 0 },
    mostWorkers: Math.max(0, ...moments.map(({ workers }) => workers)),
    workerHours: Math.round((moments.reduce((sum, { workers }) => sum + workers, 0) / 3600) * 100) / 100,
    cost: Math.round(cost * 100) / 100,
    turns,
    decisions: decisions.map(({ second, decision: { from, to, reason, limitedBy } }) => ({
      ...{ second, from, to, reason, limitedBy },
    })),
  }
}
