import { setTimeout } from 'node:timers/promises'
import type { FailureCount, Usage, UsageStep } from '../accounts/usage.store.ts'
import type { Backlog, Unfinished } from '../generations/backlog.store.ts'
import { streamEvents } from '../http/answers/event-stream.ts'
import { html } from '../http/answers/html.ts'
import type { PoolRegistry } from '../shared/engines/pool-registry.ts'
import { QUEUES, type QueueName, type Redis } from '../shared/queue/redis.ts'
import { badge, code, count, section, type Tone, table, time, when } from './elements.ts'
import { queryOf } from './form.ts'
import { showPage } from './layout.ts'
import { share } from './open-work.store.ts'
import type { OperatorSessions } from './operator-sessions.store.ts'
import { type BoundPage, pages } from './pages.ts'
import { plotBars } from './plot.ts'
import { LIVE_PATH } from './session.ts'
import type { DashboardContext } from './state.ts'

export interface OverviewOptions {
  readonly usage: Usage
  readonly backlog: Backlog
  readonly redis: Pick<Redis, 'findWorkers'>
  readonly pools: Pick<PoolRegistry, 'findWorkers'>
  readonly sessions: Pick<OperatorSessions, 'use'>
  readonly stopping?: AbortSignal
}

/** The overview, and the events that keep its queue and its workers current. */
export function overviewPages(options: OverviewOptions): BoundPage[] {
  const observe = share(EVENT_MS - 1000, () => observeQueue(options))
  return pages<Options>([
    { route: 'GET /', role: 'viewer', menu: 'Overview', run: showOverview },
    { route: `GET ${LIVE_PATH}`, role: 'viewer', run: streamOverview },
  ])({ ...options, observe })
}

/** Time between events. */
const EVENT_MS = 5000

/** Selectable time ranges. */
const SPANS = {
  day: { name: '24 hours', hours: 24, step: 'hour' },
  fortnight: { name: '14 days', hours: 14 * 24, step: 'day' },
  quarter: { name: '90 days', hours: 90 * 24, step: 'day' },
} as const

type Options = OverviewOptions & { readonly observe: () => Promise<Observed> }

async function showOverview(ctx: DashboardContext, { usage, observe }: Options): Promise<void> {
  const asked = queryOf(ctx).get('span') ?? ''
  const span = Object.hasOwn(SPANS, asked) ? SPANS[asked as keyof typeof SPANS] : SPANS.day
  const [observed, steps, failures] = await Promise.all([observe(), usage.countSteps(span), usage.countFailures(span)])
  const links = Object.entries(SPANS).map(([key, { name }]) =>
    span.name === name
      ? html`<li><a href="/?span=${key}" aria-current="true">${name}</a></li>`
      : html`<li><a href="/?span=${key}">${name}</a></li>`,
  )
  showPage(ctx, {
    title: 'Overview',
    body: html`<div data-live="${LIVE_PATH}">${presentObserved(observed)}</div>
<div class="head"><h2>Generations of the last ${span.name}</h2><nav aria-label="Time range"><ul class="spans">${links}</ul></nav></div>
<div class="tiles">${usageTiles(steps)}</div>
${plotUsage(steps, { ...span, within: `the last ${span.name}` })}
${section('Failed, refused and cancelled by code', presentFailures(failures))}`,
  })
}

/** Ends with the session, whose time it does not extend. */
function streamOverview(ctx: DashboardContext, { observe, sessions, stopping }: Options): void {
  const { token } = ctx.state
  streamEvents(ctx, async function* (disconnected) {
    const signal = stopping === undefined ? disconnected : AbortSignal.any([disconnected, stopping])
    while (!signal.aborted && (await sessions.use(token, { isPassive: true })) !== null) {
      const observed = await observe()
      yield { id: observed.at.toISOString(), data: presentObserved(observed).markup }
      await setTimeout(EVENT_MS, undefined, { signal }).catch(() => {})
    }
  })
}

/** What waits and runs at a moment. */
interface Observed {
  readonly at: Date
  readonly unfinished: readonly Unfinished[]
  readonly workers: readonly Worker[]
  readonly reports: readonly { host: string; state: string; jobs: number; slots: number }[]
  readonly overdue: number | null
}

async function observeQueue({ backlog, redis, pools }: OverviewOptions): Promise<Observed> {
  const [unfinished, overdue, workers, reports] = await Promise.all([
    backlog.findUnfinished(),
    backlog.measureOverdue(),
    findAllWorkers(redis),
    pools.findWorkers().catch(() => new Map<string, never>()),
  ])
  return { at: new Date(), unfinished, overdue, workers, reports: [...reports.values()] }
}

function presentObserved({ at, unfinished, workers, reports, overdue }: Observed) {
  return html`${when(isStuck({ unfinished, workers }), STUCK)}<p class="hint">As of ${time(at)} (UTC)</p>
<div class="tiles">${queueTiles({ unfinished, workers, overdue })}</div>
<div class="columns">${section('Queue', presentQueue(unfinished))}<div>${section('Workers', presentWorkers(workers))}${section('Worker pools', presentPools(reports))}</div></div>`
}

type Worker = { queue: QueueName; worker: string; slots: number }

/** Empty while Redis is unavailable. */
async function findAllWorkers(redis: OverviewOptions['redis']): Promise<Worker[]> {
  const found = await Promise.all(
    QUEUES.map(async (queue) => {
      const workers = await redis.findWorkers(queue).catch(() => [])
      return workers.map((worker) => ({ queue, ...worker }))
    }),
  )
  return found.flat()
}

const STUCK = html`<p class="problem" role="status"><strong>Try-ons wait, but no worker accepts jobs.</strong> Start a worker with ${code('npm run worker')}, or check the pools with ${code('kubectl get workerpools')}. ${code('drape doctor')} finds most causes.</p>
`

function countWaiting(unfinished: readonly Unfinished[]): number {
  return unfinished.filter(({ state }) => state !== 'running').reduce((total, entry) => total + entry.count, 0)
}

function countSlots(workers: readonly Worker[]): number {
  return workers.filter(({ queue }) => queue === 'try-on').reduce((total, entry) => total + entry.slots, 0)
}

/** Whether try-ons wait for a worker that does not exist. */
function isStuck({ unfinished, workers }: Pick<Glance, 'unfinished' | 'workers'>): boolean {
  return countWaiting(unfinished) > 0 && countSlots(workers) === 0
}

type Glance = Pick<Observed, 'unfinished' | 'workers' | 'overdue'>

function queueTiles({ unfinished, workers, overdue }: Glance) {
  const stuck = isStuck({ unfinished, workers }) ? 'bad' : undefined
  return presentTiles([
    ['Waiting', count(countWaiting(unfinished)), stuck],
    ['Worker slots', count(countSlots(workers)), stuck],
    ['Overdue deletion', overdue === null ? 'none' : presentSeconds(overdue), overdue === null ? undefined : 'bad'],
  ])
}

function usageTiles(steps: readonly UsageStep[]) {
  const sum = (pick: (step: UsageStep) => number) => steps.reduce((total, step) => total + pick(step), 0)
  const [completed, failed] = [sum((step) => step.completed), sum((step) => step.failed)]
  const ended = completed + failed
  return presentTiles([
    ['Completed', count(completed)],
    // A photo without a person and a cancellation are not failures of the service.
    ['Failed', failed === 0 ? '0' : `${count(failed)} (${((failed / ended) * 100).toFixed(1)} %)`],
    ['Refused images', count(sum((step) => step.refused))],
    ['Cancelled', count(sum((step) => step.cancelled))],
    ['Credits spent', count(sum((step) => step.credits))],
  ])
}

function presentTiles(tiles: readonly (readonly [string, string, Tone?])[]) {
  return tiles.map(
    ([name, value, tone = '']) => html`<div class="tile ${tone}"><span>${name}</span><strong>${value}</strong></div>`,
  )
}

interface UsagePlot {
  readonly step: 'hour' | 'day'
  /** The time range in a sentence, as `the last 14 days`. */
  readonly within: string
}

/** Accepted generations per step by outcome, and their cost. */
export function plotUsage(steps: readonly UsageStep[], { step, within }: UsagePlot) {
  const labels = steps.map(({ at }) =>
    step === 'hour' ? at.toISOString().slice(11, 16) : at.toISOString().slice(5, 10),
  )
  return html`<div class="columns">${plotBars({
    title: `Generations by ${step} (UTC)`,
    labels,
    empty: `No generation was accepted in ${within}. The playground of the API (/playground) starts one with a key of an account.`,
    series: [
      { name: 'completed', tone: 'first', values: steps.map(({ completed }) => completed) },
      { name: 'failed', tone: 'second', values: steps.map(({ failed }) => failed) },
      { name: 'refused', tone: 'fourth', values: steps.map(({ refused }) => refused) },
      { name: 'cancelled', tone: 'fifth', values: steps.map(({ cancelled }) => cancelled) },
      { name: 'unfinished', tone: 'third', values: steps.map(({ unfinished }) => unfinished) },
    ],
  })}${plotBars({
    title: `Credits by ${step} (UTC)`,
    labels,
    empty: `No credits were spent in ${within}.`,
    series: [{ name: 'credits', tone: 'first', values: steps.map(({ credits }) => credits) }],
  })}</div>`
}

function presentQueue(unfinished: readonly Unfinished[]) {
  return table({
    caption: 'Unfinished generations',
    head: ['Engine', 'State', 'Count', 'Oldest'],
    rows: unfinished.map(({ engine, state, count: entries, seconds }) => [
      engine,
      badge(state, state === 'running' ? 'busy' : 'quiet'),
      count(entries),
      presentSeconds(seconds),
    ]),
    empty: 'Nothing waits and nothing runs. New try-ons appear here until they have ended.',
    numeric: [2, 3],
  })
}

const KIND_TONES = { failed: 'bad', refused: 'quiet', cancelled: 'quiet' } as const

/** Failure counts by code, of one account or of all, with links to the generations. */
export function presentFailures(failures: readonly FailureCount[], accountId?: string) {
  const own: [string, string][] = accountId === undefined ? [] : [['account', accountId]]
  const linkTo = (name: string) => `/generations?${new URLSearchParams([['errorCode', name], ...own])}`
  return table({
    caption: 'Failed, refused and cancelled generations by code',
    head: ['Code', 'Counts as', 'Count'],
    rows: failures.map(({ code: name, kind, count: times }) => [
      html`<a href="${linkTo(name)}">${code(name)}</a>`,
      badge(kind, KIND_TONES[kind]),
      count(times),
    ]),
    empty: 'No generation failed, was refused or was cancelled in this time.',
    numeric: [2],
    narrow: true,
  })
}

function presentWorkers(workers: readonly Worker[]) {
  return table({
    caption: 'Workers that accept jobs',
    head: ['Queue', 'Worker', 'Slots'],
    rows: workers.map(({ queue, worker, slots }) => [queue, code(worker), count(slots)]),
    empty: html`No worker accepts jobs, so try-ons wait. Start one with ${code('npm run worker')}, or check the pools with ${code('kubectl get workerpools')}. ${code('drape doctor')} finds most causes.`,
    numeric: [2],
  })
}

function presentPools(reports: readonly { host: string; state: string; jobs: number; slots: number }[]) {
  return table({
    caption: 'Worker pools',
    head: ['Host', 'State', 'Jobs', 'Slots'],
    rows: reports.map(({ host, state, jobs, slots }) => [
      code(host),
      badge(state, state === 'taking' ? 'good' : 'quiet'),
      count(jobs),
      count(slots),
    ]),
    empty:
      'No worker pool has reported. Pools exist on Kubernetes; workers that were started by hand are listed above.',
    numeric: [2, 3],
  })
}

function presentSeconds(seconds: number): string {
  if (seconds < 90) return `${Math.round(seconds)} s`
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`
  if (seconds < 2 * 86_400) return `${Math.round(seconds / 3600)} h`
  return `${Math.round(seconds / 86_400)} days`
}
