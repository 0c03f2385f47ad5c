/** One query of a panel. `legend` names its lines, with labels as `{{label}}`. */
export interface Query {
  readonly expr: string
  readonly legend: string
}

/** A colour from this value on. */
export type Threshold = readonly [from: number, colour: 'green' | 'yellow' | 'orange' | 'red' | 'blue']

/** What a panel shows, without where and how Grafana writes it down. */
export interface Panel {
  readonly kind: 'lines' | 'areas' | 'number' | 'table' | 'states' | 'bars' | 'heatmap'
  readonly title: string
  /** What it says and what to make of it. */
  readonly description: string
  /** One of Grafana's: `s`, `reqps`, `percentunit`, `short`, `bytes`, … */
  readonly unit: string
  readonly queries: readonly Query[]
  /** Of 24 columns. */
  readonly width: number
  readonly thresholds?: readonly Threshold[]
  readonly max?: number
  /** Names of the alerts' pages that go with it, without `.md`. */
  readonly runbooks?: readonly string[]
}

/** A row of panels under a heading. */
export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

type Kind = Panel['kind']

const TYPES: Readonly<Record<Kind, string>> = {
  lines: 'timeseries',
  areas: 'timeseries',
  number: 'stat',
  table: 'table',
  states: 'state-timeline',
  bars: 'bargauge',
  heatmap: 'heatmap',
}
const HEIGHTS: Readonly<Record<Kind, number>> = {
  lines: 8,
  areas: 8,
  number: 4,
  table: 8,
  states: 7,
  bars: 8,
  heatmap: 8,
}

/** The one chosen at the top of the dashboard. */
export const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

export function heightOf({ kind }: Panel): number {
  return HEIGHTS[kind]
}

/** A panel as Grafana reads it. */
export function presentPanel(panel: Panel, place: { id: number; x: number; y: number }) {
  const { kind, title, description, width, runbooks = [] } = panel
  return {
    id: place.id,
    type: TYPES[kind],
    title,
    description,
    datasource: DATASOURCE,
    gridPos: { x: place.x, y: place.y, w: width, h: heightOf(panel) },
    links: runbooks.map((name) => ({ title: `Runbook: ${name}`, url: `$runbooks/${name}.md`, targetBlank: true })),
    targets: panel.queries.map(({ expr, legend }, i) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + i),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      ...shapeOf(kind),
    })),
    fieldConfig: { defaults: presentField(panel), overrides: [] },
    options: optionsOf(kind),
    ...(kind === 'table' && { transformations: TABLE }),
  }
}

/** In a table each query is a column. */
const TABLE = [
  { id: 'merge', options: {} },
  { id: 'organize', options: { excludeByName: { Time: true } } },
]

/** Whether a query is asked for one moment or for a span of time. */
function shapeOf(kind: Kind) {
  if (kind === 'table' || kind === 'bars')
    return { instant: true, range: false, format: kind === 'table' ? 'table' : 'time_series' }
  return { instant: false, range: true, format: kind === 'heatmap' ? 'heatmap' : 'time_series' }
}

function presentField({ kind, unit, thresholds = [], max }: Panel) {
  const steps = [{ color: 'green', value: null }, ...thresholds.map(([value, color]) => ({ color, value }))]
  const coloured = thresholds.length > 0 && (kind === 'lines' || kind === 'areas')
  return {
    unit,
    min: 0,
    ...(max !== undefined && { max }),
    thresholds: { mode: 'absolute', steps },
    ...((kind === 'lines' || kind === 'areas') && {
      custom: {
        drawStyle: 'line',
        lineWidth: 1,
        fillOpacity: kind === 'areas' ? 30 : 5,
        showPoints: 'never',
        spanNulls: false,
        stacking: { mode: kind === 'areas' ? 'normal' : 'none' },
        thresholdsStyle: { mode: coloured ? 'line' : 'off' },
      },
    }),
    ...(kind === 'states' && { mappings: STATES, custom: { fillOpacity: 70, lineWidth: 0 } }),
  }
}

const STATES = [
  { type: 'value', options: { 0: { text: ' ', color: 'transparent' }, 1: { text: 'yes', color: 'orange' } } },
]

function optionsOf(kind: Kind) {
  const legend = { displayMode: 'table', placement: 'bottom', calcs: ['lastNotNull', 'max'] }
  if (kind === 'lines' || kind === 'areas') return { legend, tooltip: { mode: 'multi', sort: 'desc' } }
  if (kind === 'number') {
    return { colorMode: 'value', graphMode: 'area', reduceOptions: { calcs: ['lastNotNull'] }, textMode: 'auto' }
  }
  if (kind === 'bars')
    return { orientation: 'horizontal', displayMode: 'gradient', reduceOptions: { calcs: ['lastNotNull'] } }
  if (kind === 'states')
    return { mergeValues: true, showValue: 'never', legend: { displayMode: 'list', placement: 'bottom' } }
  if (kind === 'heatmap') return { calculate: false, yAxis: { unit: 's' }, color: { scheme: 'Oranges', steps: 32 } }
  return { showHeader: true }
}
