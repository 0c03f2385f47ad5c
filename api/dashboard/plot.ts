import { type Html, html } from '../http/answers/html.ts'
import { disclosure, table } from './elements.ts'

/** One series of a plot; its class determines its colour. */
export interface Series {
  readonly name: string
  readonly tone: 'first' | 'second' | 'third' | 'fourth' | 'fifth'
  readonly values: readonly number[]
}

export interface PlotOptions {
  readonly title: string
  /** Labels of the bars. */
  readonly labels: readonly string[]
  readonly series: readonly Series[]
  /** Sentence in place of bars that are all 0. */
  readonly empty: string
}

const SIZE = { width: 480, height: 190, left: 40, right: 4, top: 8, bottom: 22 } as const

/** Stacked bars over time as SVG; each bar shows its value, the legend shows the sums. */
export function plotBars({ title, labels, series, empty }: PlotOptions): Html {
  const totals = labels.map((_, i) => series.reduce((sum, { values }) => sum + values[i], 0))
  if (totals.every((total) => total === 0))
    return html`<figure class="plot"><figcaption>${title}</figcaption><p class="empty">${empty}</p></figure>`
  const top = niceTop(Math.max(1, ...totals))
  const step = (SIZE.width - SIZE.left - SIZE.right) / Math.max(1, labels.length)
  const heightOf = (value: number) => (value / top) * (SIZE.height - SIZE.top - SIZE.bottom)
  const base = SIZE.height - SIZE.bottom
  const bars = labels.flatMap((label, i) => {
    let y = base
    return series.flatMap(({ name, tone, values }) => {
      if (values[i] === 0) return []
      y -= heightOf(values[i])
      const x = SIZE.left + i * step + step * 0.12
      return html`<rect class="${tone}" x="${fixed(x)}" y="${fixed(y)}" width="${fixed(step * 0.76)}" height="${fixed(heightOf(values[i]))}"><title>${label}: ${String(values[i])} ${name}</title></rect>`
    })
  })
  const lines = [0, 0.5, 1].map((share) => {
    const y = base - heightOf(top * share)
    return html`<line x1="${String(SIZE.left)}" x2="${String(SIZE.width)}" y1="${fixed(y)}" y2="${fixed(y)}"/><text x="${String(SIZE.left - 6)}" y="${fixed(y + 4)}" text-anchor="end">${abbreviate(top * share)}</text>`
  })
  const every = Math.ceil(labels.length / 5)
  const marks = labels.flatMap((label, i) =>
    i % every === 0
      ? html`<text x="${fixed(SIZE.left + (i + 0.5) * step)}" y="${String(SIZE.height - 6)}" text-anchor="${i === 0 ? 'start' : 'middle'}">${label}</text>`
      : [],
  )
  const legend = series.map(
    ({ name, tone, values }) =>
      html`<li><span class="mark ${tone}"></span>${name} <strong>${values.reduce((a, b) => a + b, 0).toLocaleString('en-GB')}</strong></li>`,
  )
  return html`<figure class="plot"><figcaption>${title}</figcaption><ul class="legend">${legend}</ul>
<svg viewBox="0 0 ${String(SIZE.width)} ${String(SIZE.height)}" role="img" aria-label="${title}">${lines}${bars}${marks}</svg>${presentNumbers({ title, labels, series })}</figure>`
}

/** The same as a table, for those who need the numbers, the newest first. */
function presentNumbers({ title, labels, series }: Omit<PlotOptions, 'empty'>): Html {
  const rows = labels.map((label, i) => [label, ...series.map(({ values }) => values[i].toLocaleString('en-GB'))])
  const head = ['Time (UTC)', ...series.map(({ name }) => name)]
  const numeric = series.map((_, i) => i + 1)
  return disclosure(
    'Show as a table',
    table({ caption: title, head, rows: rows.toReversed(), empty: 'Nothing yet.', numeric }),
  )
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
