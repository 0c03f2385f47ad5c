import { setTimeout } from 'node:timers/promises'
import type { Usage } from '../../accounts/usage.store.ts'
import type { Backlog, Unfinished } from '../../generations/backlog.store.ts'
import { streamEvents } from '../../http/answers/event-stream.ts'
import { html } from '../../http/answers/html.ts'
import type { PoolRegistry } from '../../shared/engines/pool-registry.ts'
import { QUEUES, type QueueName, type Redis } from '../../shared/queue/redis.ts'
import { queryOf } from '../forms/form.ts'
import { badge, code, count, section, table, when } from '../html/elements.ts'
import { seeOther, showPage } from '../html/layout.ts'
import { time } from '../html/times.ts'
import { anyOwner, type BoundPage, pages } from '../page.ts'
import type { OperatorSessions } from '../sign-in/operator-sessions.store.ts'
import { LIVE_PATH } from '../sign-in/session-cookie.ts'
import type { DashboardContext, SignedInContext } from '../state.ts'
import { share } from './open-work.store.ts'
import {
  PLACES,
  plotLatency,
  plotUsage,
  presentFailures,
  presentPlaces,
  presentTiles,
  usageTiles,
} from './usage.view.ts'

export interface OverviewOptions {
  readonly usage: Usage
  readonly backlog: Backlog
  readonly redis: Pick<Redis, 'findWorkers'>
  readonly pools: Pick<PoolRegistry, 'findWorkers'>
  readonly sessions: Pick<OperatorSessions, 'find'>
  readonly stopping?: AbortSignal
}

/** The overview, and the events that keep its queue and its workers current. */
export function overviewPages(options: OverviewOptions): BoundPage[] {
  const observe = share(EVENT_MS - 1000, () => observeQueue(options))
  return pages<Options>([
    {
      route: 'GET /',
      role: 'viewer',
      owns: anyOwner,
      menu: { name: 'Overview', ofOwners: 'Account' },
      run: showOverview,
    },
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

/** Of all accounts; owners have the page of their account. */
async function showOverview(ctx: SignedInContext, { usage, observe }: Options): Promise<void> {
  const { accountId } = ctx.state.operator
  if (accountId !== null) return seeOther(ctx, `/accounts/${accountId}`)
  const asked = queryOf(ctx).get('span') ?? ''
  const span = Object.hasOwn(SPANS, asked) ? SPANS[asked as keyof typeof SPANS] : SPANS.day
  const [observed, steps, failures, latencies, places] = await Promise.all([
    observe(),
    usage.countSteps(span),
    usage.countFailures(span),
    usage.measureLatency(span),
    usage.countPlaces({ ...span, limit: PLACES }),
  ])
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
<div class="columns">${plotLatency(latencies, { ...span, within: `the last ${span.name}` })}${section('Failures by engine and shop', presentPlaces(places))}</div>
${section('Failed, refused and cancelled by code', presentFailures(failures))}`,
  })
}

/** Ends with the session, whose time it does not extend. */
function streamOverview(ctx: DashboardContext, { observe, sessions, stopping }: Options): void {
  const { token } = ctx.state
  streamEvents(ctx, async function* (disconnected) {
    const signal = stopping === undefined ? disconnected : AbortSignal.any([disconnected, stopping])
    while (!signal.aborted && (await sessions.find(token)) !== null) {
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
