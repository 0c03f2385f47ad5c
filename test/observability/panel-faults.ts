import type { Panel } from '../../scripts/grafana/main.ts'
import type { Series } from './prometheus-server.ts'

/** Grafana units of our panels, with the largest value that makes sense in one; larger ones are of another unit. */
const MAX_VALUES: Readonly<Record<string, number>> = {
  short: Number.POSITIVE_INFINITY,
  ops: 1e6,
  reqps: 1e6,
  percentunit: 1,
  percent: 100,
  s: 1e7,
  bytes: 1e12,
  mbytes: 1e6,
}
/** Rounding, and rates at the edges of a range. */
const TOLERANCE = 1.001

/** Problems of a panel that shows these series, one list per query. */
export function findPanelFaults(panel: Panel, results: readonly (readonly Series[])[]): string[] {
  return [
    ...findLegendFaults(panel, results),
    ...findUnitFaults(panel, results),
    ...findThresholdFaults(panel),
    ...(panel.kind === 'table' ? findColumnFaults(panel, results) : []),
  ]
}

function findLegendFaults({ kind, queries }: Panel, results: readonly (readonly Series[])[]): string[] {
  if (kind === 'table') return []
  const names: string[] = []
  const faults = new Set<string>()
  results.forEach((series, i) => {
    const { legend } = queries[i]
    if (kind === 'number' && series.length > 1) faults.add(`shows ${series.length} values in place of one`)
    if (kind !== 'number' && legend === '') faults.add('has a series without a name')
    const used = [...legend.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, label]) => label)
    for (const { metric } of series) {
      for (const label of used.filter((name) => metric[name] === undefined && !canBeEmpty(name, series)))
        faults.add(`has the legend ${legend}, but no label ${label}`)
      names.push(legend.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? ''))
    }
  })
  const twice = names.filter((name, i) => names.indexOf(name) !== i)
  for (const name of new Set(twice)) faults.add(`has the series "${name}" twice`)
  return [...faults]
}

/** Prometheus drops empty labels: the label exists if another series has it. */
function canBeEmpty(label: string, series: readonly Series[]): boolean {
  return series.some(({ metric }) => metric[label] !== undefined)
}

function findUnitFaults({ unit, max }: Panel, results: readonly (readonly Series[])[]): string[] {
  const limit = MAX_VALUES[unit]
  if (limit === undefined) return [`has the unknown unit ${unit}`]
  const largest = Math.max(
    ...results.flat().flatMap(({ values }) => values.map(([, value]) => Number(value)).filter(Number.isFinite)),
  )
  const bound = Math.min(limit, max ?? limit) * TOLERANCE
  return largest > bound ? [`shows ${largest} in the unit ${unit}, at most ${bound} is possible`] : []
}

function findThresholdFaults({ unit, thresholds = [] }: Panel): string[] {
  const values = thresholds.map(([from]) => from)
  const isAscending = values.every((value, i) => i === 0 || value > values[i - 1])
  return [
    ...(isAscending ? [] : ['has thresholds that do not ascend']),
    ...values
      .filter((value) => value > MAX_VALUES[unit])
      .map((value) => `has the threshold ${value}, which ${unit} never reaches`),
  ]
}

/** A row of a merged table has a cell of every query only if the queries have the same labels. */
function findColumnFaults({ queries }: Panel, results: readonly (readonly Series[])[]): string[] {
  const labels = results.map((series) =>
    [...new Set(series.flatMap(({ metric }) => Object.keys(metric)))].sort().join(),
  )
  const names = queries.map(({ legend }) => legend)
  return [
    ...(new Set(labels).size > 1 ? [`has columns of different labels: ${labels.join(' and ')}`] : []),
    ...(new Set(names).size < names.length || names.includes('') ? ['has columns without a name of their own'] : []),
  ]
}
