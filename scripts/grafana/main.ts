import { readFileSync, writeFileSync } from 'node:fs'
import { parse } from 'yaml'

// Writes the dashboards of the chart from panels.yaml. Usage: scripts/dashboards

export interface Panel {
  readonly kind: keyof typeof KINDS
  readonly title: string
  /** Meaning of the panel, and how to react. */
  readonly description: string
  /** A Grafana unit: `s`, `reqps`, `percentunit`, `short`, `bytes`, … */
  readonly unit: string
  /** PromQL. `legend` is the name of the series, with labels as `{{label}}`. */
  readonly queries: readonly { readonly legend: string; readonly expr: string }[]
  /** In 24ths of the dashboard. */
  readonly width: number
  /** Colours from a value upwards. */
  readonly thresholds?: readonly (readonly [from: number, colour: string])[]
  readonly max?: number
  /** Whether values below 0 are shown; otherwise the scale starts at 0. */
  readonly isSigned?: boolean
  /** Shows the traces that Prometheus stores with the queried histogram. */
  readonly exemplars?: boolean
  /** Shown instead of an empty graph. */
  readonly noData?: string
  /** Names of the related runbooks, without `.md`. */
  readonly runbooks?: readonly string[]
}

export interface Dashboard {
  /** Name of the file, and suffix of its uid. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** Label whose values can be selected at the top, and a metric with it. */
  readonly variable: { readonly name: string; readonly label: string; readonly metric: string }
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[]
}

const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

/** Grafana's type of each kind of panel, its height, and how it is drawn. */
const KINDS = {
  number: { type: 'stat', height: 4, options: { graphMode: 'area', colorMode: 'value', reduceOptions: { calcs: [] } } },
  lines: graph({ fillOpacity: 5, stacking: { mode: 'none' } }),
  areas: graph({ fillOpacity: 30, stacking: { mode: 'normal' } }),
  states: {
    type: 'state-timeline',
    height: 7,
    options: { showValue: 'never', mergeValues: true, legend: { showLegend: false } },
    custom: { fillOpacity: 70 },
    mappings: [
      { type: 'value', options: { 0: { text: '–', color: 'transparent' }, 1: { text: 'yes', color: 'orange' } } },
    ],
  },
  table: { type: 'table', height: 8, options: { showHeader: true } },
} satisfies Record<string, Kind>

interface Kind {
  readonly type: string
  readonly height: number
  readonly options: object
  readonly custom?: object
  readonly mappings?: readonly object[]
}

export const DASHBOARDS = readDashboards()

/** Each panel of the file has the defaults of its kind, `queries` by legend, and no selector of the namespace. */
function readDashboards(): Dashboard[] {
  type Entry = Omit<Panel, 'queries'> & { readonly queries: Readonly<Record<string, string>> }
  const fill = ({ queries, unit = 'short', width, ...panel }: Entry): Panel => ({
    ...panel,
    unit,
    width: width ?? (panel.kind === 'number' ? 4 : 12),
    queries: Object.entries(queries).map(([legend, expr]) => ({ legend, expr: inNamespace(expr) })),
  })
  const text = readFileSync(new URL('panels.yaml', import.meta.url), 'utf8')
  return (parse(text) as Dashboard[]).map((dashboard) => ({
    ...dashboard,
    rows: dashboard.rows.map(({ title, panels }) => ({ title, panels: (panels as unknown as Entry[]).map(fill) })),
  }))
}

/** Restricts each metric of Drape and its processes to the selected namespaces. */
function inNamespace(expr: string): string {
  return expr.replaceAll(
    /\b((?:drape[_:]|nodejs_|process_)[\w:]+)(?:\{([^}]*)\})?/g,
    (_, metric, matchers) => `${metric}{namespace=~"$namespace"${matchers ? `, ${matchers}` : ''}}`,
  )
}

/** The dashboards as files: name and JSON text. */
export function presentDashboards(): [name: string, text: string][] {
  return DASHBOARDS.map((dashboard) => [
    `${dashboard.name}.json`,
    `${JSON.stringify(presentDashboard(dashboard), null, 2)}\n`,
  ])
}

function presentDashboard({ name, title, description, variable, rows }: Dashboard) {
  const alerts = 'ALERTS{alertname=~"Drape.*", alertstate="firing", namespace=~"$namespace"}'
  const links = { type: 'dashboards', tags: ['drape'], asDropdown: false, includeVars: true, keepTime: true }
  return {
    title: `Drape / ${title}`,
    uid: `drape-${name}`,
    description,
    tags: ['drape'],
    schemaVersion: 42,
    editable: false,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    links: [{ title: 'Drape', ...links }],
    annotations: {
      list: [
        {
          name: 'Alerts',
          datasource: DATASOURCE,
          enable: true,
          iconColor: 'red',
          expr: `max by (alertname) (${alerts})`,
          titleFormat: '{{alertname}}',
        },
      ],
    },
    templating: {
      list: [
        { type: 'datasource', name: 'datasource', label: 'Data source', query: 'prometheus' },
        // Base of the runbooks: a URL, or the folder beside the dashboards.
        { type: 'constant', name: 'runbooks', hide: 2, query: 'runbooks' },
        presentVariable({ name: 'namespace', label: 'Namespace', metric: 'drape_build_info' }),
        presentVariable(variable),
      ],
    },
    panels: presentRows(rows),
  }
}

function presentVariable({ name, label, metric }: Dashboard['variable']) {
  return {
    type: 'query',
    name,
    label,
    datasource: DATASOURCE,
    query: `label_values(${metric}, ${name})`,
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    // Includes series without the label, for which it is empty.
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  }
}

/** Panels from left to right, below the title of their row. */
function presentRows(rows: Dashboard['rows']): object[] {
  const placed: object[] = []
  let y = 0
  for (const { title, panels } of rows) {
    placed.push({ type: 'row', title, collapsed: false, panels: [], gridPos: { x: 0, y, w: 24, h: 1 } })
    y += 1
    let [x, tallest] = [0, 0]
    for (const panel of panels) {
      const { height } = KINDS[panel.kind]
      if (x + panel.width > 24) {
        y += tallest
        x = tallest = 0
      }
      placed.push(presentPanel(panel, { x, y, w: panel.width, h: height }))
      x += panel.width
      tallest = Math.max(tallest, height)
    }
    y += tallest
  }
  return placed.map((panel, i) => ({ id: i + 1, ...panel }))
}

function presentPanel(panel: Panel, gridPos: object) {
  const { kind, title, description, unit, thresholds = [], max, isSigned, noData, runbooks = [] } = panel
  const { type, options, custom, mappings }: Kind = KINDS[kind]
  const limits = { thresholdsStyle: { mode: thresholds.length > 0 ? 'line' : 'off' } }
  return {
    type,
    title,
    description,
    datasource: DATASOURCE,
    gridPos,
    options,
    fieldConfig: {
      defaults: {
        custom: type === 'timeseries' ? { ...custom, ...limits } : custom,
        mappings,
        unit,
        thresholds: {
          mode: 'absolute',
          steps: [{ color: 'green', value: null }, ...thresholds.map(([value, color]) => ({ color, value }))],
        },
        min: isSigned ? undefined : 0,
        max,
        noValue: noData,
      },
      overrides: [],
    },
    transformations: kind === 'table' ? [{ id: 'merge', options: {} }, nameColumns(panel)] : undefined,
    links: runbooks.map((name) => ({
      title: `Runbook: ${name}`,
      type: 'link',
      url: `$runbooks/${name}.md`,
      targetBlank: true,
    })),
    targets: panel.queries.map((_, i) => presentQuery(panel, i)),
  }
}

/** In a table each query is a column, whose name must be set explicitly. */
function nameColumns({ queries }: Panel) {
  const names = queries.map(({ legend }, i) => [queries.length === 1 ? 'Value' : `Value #${refIdOf(i)}`, legend])
  return { id: 'organize', options: { excludeByName: { Time: true }, renameByName: Object.fromEntries(names) } }
}

function presentQuery({ kind, queries, exemplars }: Panel, i: number) {
  const { expr, legend } = queries[i]
  const times =
    kind === 'table' ? { instant: true, format: 'table' } : { range: true, format: 'time_series', exemplar: exemplars }
  return { refId: refIdOf(i), datasource: DATASOURCE, expr, legendFormat: legend, ...times }
}

function refIdOf(i: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + i)
}

function graph(custom: object): Kind {
  const legend = { displayMode: 'table', placement: 'bottom', showLegend: true, calcs: ['lastNotNull', 'max'] }
  return {
    type: 'timeseries',
    height: 8,
    options: { legend, tooltip: { mode: 'multi', sort: 'desc' } },
    custom: { showPoints: 'never', ...custom },
  }
}

if (import.meta.main) {
  for (const [name, text] of presentDashboards())
    writeFileSync(new URL(`../../charts/drape/dashboards/${name}`, import.meta.url), text)
}
