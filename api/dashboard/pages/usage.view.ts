import type { FailureCount, Latency, PlaceFailures, UsageStep } from '../../accounts/usage.store.ts'
import { html } from '../../http/answers/html.ts'
import { badge, code, count, type Tone, table } from '../html/elements.ts'
import { plotBars, plotLines, plotShare } from '../html/plot.ts'

/** Sums of a time range. */
export function usageTiles(steps: readonly UsageStep[]) {
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

export function presentTiles(tiles: readonly (readonly [string, string, Tone?])[]) {
  return tiles.map(
    ([name, value, tone = '']) => html`<div class="tile ${tone}"><span>${name}</span><strong>${value}</strong></div>`,
  )
}

interface UsagePlot {
  readonly step: 'hour' | 'day'
  /** The time range in a sentence, as `the last 14 days`. */
  readonly within: string
}

/** Engines and shops that the overview lists. */
export const PLACES = 10

/** Generations that the service failed: most of them have a common engine or shop. */
export function presentPlaces(places: readonly PlaceFailures[]) {
  const link = ({ engine, shopId }: PlaceFailures) =>
    `/generations?${new URLSearchParams({ status: 'FAILED', engine, ...(shopId !== null && { shopId }) })}`
  return table({
    caption: 'Failures of the service by engine and shop, most first',
    head: ['Engine and shop', 'Failed', 'Share', 'Of all failures'],
    rows: places.map((place) => [
      html`<a href="${link(place)}">${place.engine}, ${place.domain ?? 'server API'}</a>`,
      count(place.failed),
      `${((place.failed / place.ended) * 100).toFixed(1)} %`,
      plotShare({ value: place.failed, whole: places.reduce((sum, { failed }) => sum + failed, 0) }),
    ]),
    empty: 'The service failed no generation in this time.',
    numeric: [1, 2],
    narrow: true,
  })
}

function labelsOf(steps: readonly { readonly at: Date }[], step: UsagePlot['step']): string[] {
  return steps.map(({ at }) => (step === 'hour' ? at.toISOString().slice(11, 16) : at.toISOString().slice(5, 10)))
}

/** Seconds from acceptance to result. */
export function plotLatency(latencies: readonly Latency[], { step, within }: UsagePlot) {
  return plotLines({
    title: `Seconds to the result by ${step} (UTC)`,
    labels: labelsOf(latencies, step),
    empty: `No generation was completed in ${within}.`,
    series: [
      { name: 'p50', tone: 'first', values: latencies.map(({ p50 }) => p50) },
      { name: 'p95', tone: 'fourth', values: latencies.map(({ p95 }) => p95) },
      { name: 'p99', tone: 'second', values: latencies.map(({ p99 }) => p99) },
    ],
  })
}

/** Accepted generations per step by outcome, and their cost. */
export function plotUsage(steps: readonly UsageStep[], { step, within }: UsagePlot) {
  const labels = labelsOf(steps, step)
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
