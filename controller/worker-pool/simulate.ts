import type { ScalingRules } from '../scaling-policy/resource.ts'
import { type Decision, decide, emptyMemory } from './decide.ts'

/** Jobs that arrive in one second of a trace. */
export interface Arrival {
  readonly second: number
  readonly jobs: number
}

export interface SimulateOptions {
  readonly rules: ScalingRules
  readonly arrivals: readonly Arrival[]
  /** Length of the trace; jobs that remain at its end are still processed. */
  readonly seconds: number
  readonly secondsPerJob: number
  readonly slotsPerReplica: number
  /** Seconds from the decision until a worker accepts jobs. */
  readonly startSeconds: number
  readonly hourlyCost: number
  /** Start time of the trace; schedules depend on it. */
  readonly startsAt: Date
}

export interface Simulation {
  /** Number of workers in each second. */
  readonly workers: readonly number[]
  readonly decisions: readonly { readonly second: number; readonly decision: Decision }[]
  /** Waiting time of each job in seconds, in order of start. */
  readonly waits: readonly number[]
  /** Cost of all workers from the decision to start them until their removal. */
  readonly cost: number
  /** Number of changes between scaling up and scaling down. */
  readonly turns: number
}

/** Max seconds after the trace for remaining jobs. */
const MAX_REST_SECONDS = 86_400

/** Simulates the rules with a trace of arriving jobs, second by second. Deterministic. */
export function simulate(options: SimulateOptions): Simulation {
  const { rules, arrivals, seconds, hourlyCost } = options
  const arriving = new Map<number, number>()
  for (const { second, jobs } of arrivals) arriving.set(second, (arriving.get(second) ?? 0) + jobs)
  const state = emptyState(options)
  for (let second = 0; second < seconds + MAX_REST_SECONDS; second++) {
    for (let job = arriving.get(second) ?? 0; job > 0; job--) state.waiting.push(second)
    work(state, second, options)
    // A new job wakes the controller; otherwise it samples at an interval.
    if (arriving.has(second) || second % rules.sampling.intervalSeconds === 0) look(state, second, options)
    work(state, second, options)
    state.cost += (state.workers.length * hourlyCost) / 3600
    state.counts.push(state.workers.length)
    if (second >= seconds && state.waiting.length + state.ends.length === 0) break
  }
  const { counts, decisions, waits, cost } = state
  return { workers: counts, decisions, waits, cost, turns: countTurns(decisions) }
}

interface State {
  memory: ReturnType<typeof emptyMemory>
  desired: number
  /** Time from which each worker accepts jobs. */
  workers: number[]
  /** Arrival time of each waiting job. */
  waiting: number[]
  /** End time of each running job. */
  ends: number[]
  /** Number of workers in each second. */
  counts: number[]
  decisions: { second: number; decision: Decision }[]
  waits: number[]
  cost: number
}

function emptyState({ rules, startsAt }: SimulateOptions): State {
  const workers = Array.from({ length: rules.bounds.min }, () => 0)
  const lists = { waiting: [], ends: [], counts: [], decisions: [], waits: [] }
  return { memory: emptyMemory(startsAt), desired: workers.length, workers, cost: 0, ...lists }
}

function work(state: State, second: number, { slotsPerReplica, secondsPerJob }: SimulateOptions): void {
  state.ends = state.ends.filter((end) => end > second)
  const up = state.workers.filter((readyAt) => readyAt <= second).length
  while (state.waiting.length > 0 && state.ends.length < up * slotsPerReplica) {
    state.waits.push(second - (state.waiting.shift() ?? second))
    state.ends.push(second + secondsPerJob)
  }
  // Only a worker without a job is removed.
  const busy = Math.ceil(state.ends.length / slotsPerReplica)
  const least = Math.max(state.desired, busy)
  if (state.workers.length > least) state.workers = state.workers.sort((a, b) => a - b).slice(0, least)
}

function look(state: State, second: number, options: SimulateOptions): void {
  const { rules, slotsPerReplica, hourlyCost, startsAt, startSeconds, secondsPerJob } = options
  const { waiting, ends, memory, desired } = state
  const oldestWaitSeconds = waiting.length > 0 ? second - waiting[0] : 0
  const demand = { waiting: waiting.length, inFlight: ends.length, oldestWaitSeconds, secondsPerJob }
  const now = new Date(startsAt.getTime() + second * 1000)
  const outcome = decide({ demand, rules, slotsPerReplica, hourlyCost, startSeconds, replicas: desired, memory, now })
  state.memory = outcome.memory
  state.desired = outcome.decision.to
  if (outcome.decision.direction !== 'None') state.decisions.push({ second, decision: outcome.decision })
  while (state.workers.length < state.desired) state.workers.push(second + startSeconds)
}

function countTurns(decisions: readonly { readonly decision: Decision }[]): number {
  return decisions.filter(({ decision }, i) => i > 0 && decision.direction !== decisions[i - 1].decision.direction)
    .length
}
