import { type Html, html } from '../../http/answers/html.ts'
import { disclosure, table } from './elements.ts'

/** One series of a plot; its class determines its colour. */
export interface Series<V = number> {
  readonly name: string
  readonly tone: 'first' | 'second' | 'third' | 'fourth' | 'fifth'
  readonly values: readonly V[]
}

export interface PlotOptions<V = number> {
  readonly title: string
  /** Labels of the steps of time. */
  readonly labels: readonly string[]
  readonly series: readonly Series<V>[]
  /** Sentence in place of a plot without values. */
  readonly empty: string
}

const SIZE = { width: 480, height: 190, left: 40, right: 4, top: 8, bottom: 22 } as const
const BASE = SIZE.height - SIZE.bottom

/** Stacked bars over time as SVG; each bar shows its value, the legend shows the sums. */
export function plotBars(options: PlotOptions): Html {
  const { labels, series } = options
  const totals = labels.map((_, i) => series.reduce((sum, { values }) => sum + values[i], 0))
  return plot(options, {
    max: Math.max(...totals),
    present: (value) => value.toLocaleString('en-GB'),
    summarise: (values) => values.reduce((a, b) => a + b, 0),
    draw: ({ placeOf, step, heightOf }) =>
      labels.flatMap((label, i) => {
        let y = BASE
        return series.flatMap(({ name, tone, values }) => {
          if (values[i] === 0) return []
          y -= heightOf(values[i])
          return html`<rect class="${tone}" x="${fixed(placeOf(i) - step * 0.38)}" y="${fixed(y)}" width="${fixed(step * 0.76)}" height="${fixed(heightOf(values[i]))}"><title>${label}: ${String(values[i])} ${name}</title></rect>`
        })
      }),
  })
}

/** Lines over time as SVG, with gaps where there is no value; the legend shows the newest values. */
export function plotLines(options: PlotOptions<number | null>): Html {
  const { labels, series } = options
  return plot(options, {
    max: Math.max(0, ...series.flatMap(({ values }) => values.map((value) => value ?? 0))),
    present: (value) => (value === null ? '' : value.toFixed(1)),
    summarise: (values) => values.findLast((value) => value !== null) ?? null,
    draw: ({ placeOf, heightOf }) =>
      series.flatMap(({ name, tone, values }) => {
        const points = values.map(
          (value, i) => value !== null && `${fixed(placeOf(i))} ${fixed(BASE - heightOf(value))}`,
        )
        const path = points.map((point, i) => point && `${points[i - 1] ? 'L' : 'M'}${point}`).filter(Boolean)
        const dots = values.flatMap((value, i) =>
          value === null
            ? []
            : html`<circle class="${tone}" cx="${fixed(placeOf(i))}" cy="${fixed(BASE - heightOf(value))}" r="2.5"><title>${labels[i]}: ${value.toFixed(1)} ${name}</title></circle>`,
        )
        return [html`<path class="${tone}" d="${path.join('')}"/>`, ...dots]
      }),
  })
}

interface Scale {
  /** Middle of a step of time. */
  readonly placeOf: (i: number) => number
  readonly step: number
  readonly heightOf: (value: number) => number
}

interface Drawing<V> {
  readonly max: number
  readonly present: (value: V) => string
  /** The value of the legend. */
  readonly summarise: (values: readonly V[]) => V
  readonly draw: (scale: Scale) => readonly Html[]
}

function plot<V>(options: PlotOptions<V>, { max, present, summarise, draw }: Drawing<V>): Html {
  const { title, labels, series, empty } = options
  if (max === 0)
    return html`<figure class="plot"><figcaption>${title}</figcaption><p class="empty">${empty}</p></figure>`
  const top = niceTop(max)
  const step = (SIZE.width - SIZE.left - SIZE.right) / Math.max(1, labels.length)
  const heightOf = (value: number) => (value / top) * (BASE - SIZE.top)
  const placeOf = (i: number) => SIZE.left + (i + 0.5) * step
  const lines = [0, 0.5, 1].map((share) => {
    const y = BASE - heightOf(top * share)
    return html`<line x1="${String(SIZE.left)}" x2="${String(SIZE.width)}" y1="${fixed(y)}" y2="${fixed(y)}"/><text x="${String(SIZE.left - 6)}" y="${fixed(y + 4)}" text-anchor="end">${abbreviate(top * share)}</text>`
  })
  const every = Math.ceil(labels.length / 5)
  const marks = labels.flatMap((label, i) =>
    i % every === 0
      ? html`<text x="${fixed(placeOf(i))}" y="${String(SIZE.height - 6)}" text-anchor="${i === 0 ? 'start' : 'middle'}">${label}</text>`
      : [],
  )
  const legend = series.map(
    ({ name, tone, values }) =>
      html`<li><span class="mark ${tone}"></span>${name} <strong>${present(summarise(values))}</strong></li>`,
  )
  return html`<figure class="plot"><figcaption>${title}</figcaption><ul class="legend">${legend}</ul>
<svg viewBox="0 0 ${String(SIZE.width)} ${String(SIZE.height)}" role="img" aria-label="${title}">${lines}${draw({ placeOf, step, heightOf })}${marks}</svg>${presentNumbers(options, present)}</figure>`
}

/** The same as a table, for those who need the numbers, the newest first. */
function presentNumbers<V>({ title, labels, series }: PlotOptions<V>, present: (value: V) => string): Html {
  const rows = labels.map((label, i) => [label, ...series.map(({ values }) => present(values[i]))])
  const head = ['Time (UTC)', ...series.map(({ name }) => name)]
  const numeric = series.map((_, i) => i + 1)
  return disclosure(
    'Show as a table',
    table({ caption: title, head, rows: rows.toReversed(), empty: 'Nothing yet.', numeric }),
  )
}

/** A bar for the share of a value of the whole, in a cell of a table. */
export function plotShare({ start = 0, value, whole, tone = 'whole' }: Share): Html {
  const share = (part: number) => (whole === 0 ? 0 : (part / whole) * 100).toFixed(2)
  return html`<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="${tone}" x="${share(start)}" y="0" width="${share(value)}" height="8"/></svg>`
}

export interface Share {
  readonly start?: number
  readonly value: number
  readonly whole: number
  readonly tone?: 'whole' | 'part'
}

/** The smallest number of the form 1, 2 or 5 times a power of ten that is at least `value`, minimum 2. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value))
  const step = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10
  return Math.max(2, step * power)
}

function abbreviate(value: number): string {
  return value.toLocaleString('en-GB', { notation: 'compact', maximumFractionDigits: 1 })
}

function fixed(value: number): string {
  return value.toFixed(1)
}
