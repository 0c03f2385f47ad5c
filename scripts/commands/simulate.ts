import { readFile } from 'node:fs/promises'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { scalingPolicies } from '../../controller/scaling-policy/resource.ts'
import { workerPools } from '../../controller/worker-pool/resource.ts'
import { unknownZoneOf } from '../../controller/worker-pool/schedule.ts'
import { type Arrival, type Simulation, simulate } from '../../controller/worker-pool/simulate.ts'
import { highestCost } from '../../controller/worker-pool/tiers.ts'
import { type Options, required, UsageError, wholeNumber } from './options.ts'

const DAY_SECONDS = 86_400
/** Max length of a trace: a month, and as many jobs as fit into memory. */
const MAX_SECONDS = 31 * DAY_SECONDS
const MAX_JOBS = 1_000_000
/** Max arrivals for which Knuth's method works: e to the minus 500 is still a positive number. */
const MAX_PER_MINUTE = 30_000

/** Simulates the rules of a YAML file with a trace of jobs. Returns decisions, waits and cost. */
export async function simulateCommand(options: Options): Promise<Record<string, unknown>> {
  const { rules, slotsPerReplica, hourlyCost } = await readRules(required(options.policy, 'policy'))
  const number = (name: string, otherwise: string, [least, most]: readonly [number, number]) => {
    const value = wholeNumber(options[name] ?? otherwise, name, least)
    if (value > most) throw new UsageError(`--${name} must be at most ${most}`)
    return value
  }
  const trace = options.trace
    ? parseTrace(await readText(options.trace))
    : generateTrace({
        jobsPerMinute: number('jobs-per-minute', '60', [0, MAX_PER_MINUTE]),
        minutes: number('minutes', '60', [1, MAX_SECONDS / 60]),
        seed: number('seed', '1', [0, 2 ** 32 - 1]),
      })
  if (trace.seconds > MAX_SECONDS || countJobs(trace.arrivals) > MAX_JOBS)
    throw new UsageError(`A trace has at most ${MAX_SECONDS} seconds and ${MAX_JOBS} jobs`)
  const startsAt = new Date(options['starts-at'] ?? '2026-01-05T08:00:00Z')
  if (Number.isNaN(startsAt.getTime())) throw new UsageError('--starts-at must be a time as in 2026-01-05T08:00:00Z')
  return present(
    simulate({
      rules,
      slotsPerReplica,
      hourlyCost,
      startsAt,
      ...trace,
      secondsPerJob: number('seconds-per-job', '3', [1, DAY_SECONDS]),
      startSeconds: number('start-seconds', '30', [0, DAY_SECONDS]),
    }),
  )
}

/** The rules of the file's first pool with rules, its own or of a policy in the file; without a pool, of its first policy. */
async function readRules(path: string) {
  const documents = readDocuments(await readText(path), path)
  const policies = documents
    .filter(({ kind }) => kind === 'ScalingPolicy')
    .map((document) => objectOf(scalingPolicies.read(named(document))))
  const pools = documents
    .filter(({ kind }) => kind === 'WorkerPool')
    .map((document) => objectOf(workerPools.read(named(document))))
  for (const pool of pools) {
    const { scaling, slotsPerReplica } = pool.spec
    const rules = scaling.policy ?? policies.find(({ metadata }) => metadata.name === scaling.policyRef?.name)?.spec
    if (rules) return { rules: knownZones(rules), slotsPerReplica, hourlyCost: highestCost(pool) }
  }
  const [policy] = policies
  if (policy) return { rules: knownZones(policy.spec), slotsPerReplica: 1, hourlyCost: 0 }
  throw new UsageError(`${path} has neither a ScalingPolicy nor a WorkerPool with a policy of its own`)
}

function readDocuments(text: string, path: string): { readonly kind?: string }[] {
  try {
    return readYaml(text) as { kind?: string }[]
  } catch (error) {
    throw new UsageError(`${path} is not valid YAML: ${error instanceof Error ? error.message.split('\n')[0] : error}`)
  }
}

function knownZones<R extends Parameters<typeof unknownZoneOf>[0]>(rules: R): R {
  const unknown = unknownZoneOf(rules)
  if (unknown !== null) throw new UsageError(unknown)
  return rules
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
      throw new UsageError(`The trace has an invalid line: "${line}"`)
    return { second, jobs }
  })
  return { arrivals, seconds: arrivals.reduce((last, { second }) => Math.max(last, second), 0) + 1 }
}

/** Poisson arrivals, by Knuth, The Art of Computer Programming, vol. 2, 3.4.1; deterministic per seed. */
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

function countJobs(arrivals: readonly Arrival[]): number {
  return arrivals.reduce((sum, { jobs }) => sum + jobs, 0)
}

function present({ waits, decisions, workers, cost, turns }: Simulation): Record<string, unknown> {
  const sorted = [...waits].sort((a, b) => a - b)
  const share = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0
  return {
    jobs: waits.length,
    seconds: workers.length,
    waitSeconds: { median: share(0.5), p95: share(0.95), longest: sorted.at(-1) ?? 0 },
    mostWorkers: workers.reduce((most, count) => Math.max(most, count), 0),
    workerHours: Math.round((workers.reduce((sum, count) => sum + count, 0) / 3600) * 100) / 100,
    cost: Math.round(cost * 100) / 100,
    turns,
    decisions: decisions.map(({ second, decision: { from, to, reason, limitedBy } }) => ({
      second,
      from,
      to,
      reason,
      limitedBy,
    })),
  }
}
