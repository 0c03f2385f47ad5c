import { DATASOURCE, heightOf, type Panel, presentPanel, type Row } from './panel.ts'

/** What can be chosen at the top of a dashboard: the values of a label. */
export interface Variable {
  readonly name: string
  readonly label: string
  /** Whose label of the same name it is. */
  readonly metric: string
}

export interface Dashboard {
  /** Of its file, and the end of its uid. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly variables: readonly Variable[]
  readonly rows: readonly Row[]
}

const COLUMNS = 24
const NAMESPACE: Variable = { name: 'namespace', label: 'Namespace', metric: 'drape_build_info' }

/** A dashboard as Grafana reads it. */
export function presentDashboard({ name, title, description, variables, rows }: Dashboard) {
  return {
    uid: `drape-${name}`,
    title: `Drape / ${title}`,
    description,
    tags: ['drape'],
    schemaVersion: 39,
    version: 1,
    editable: false,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    timezone: 'browser',
    links: [
      { type: 'dashboards', tags: ['drape'], title: 'Drape', asDropdown: false, includeVars: true, keepTime: true },
    ],
    annotations: { list: [ALERTS] },
    templating: { list: [CHOICE, RUNBOOKS, ...[NAMESPACE, ...variables].map(presentVariable)] },
    panels: placeRows(rows),
  }
}

const CHOICE = { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', current: {} }
/** Where the pages of alerts are: an address, or the folder in which they lie beside this one. */
const RUNBOOKS = { name: 'runbooks', type: 'constant', hide: 2, query: 'runbooks' }
const ALERTS = {
  name: 'Alerts',
  datasource: DATASOURCE,
  enable: true,
  expr: 'max by (alertname) (ALERTS{alertname=~"Drape.*", alertstate="firing", namespace=~"$namespace"})',
  titleFormat: '{{alertname}}',
  iconColor: 'red',
}

function presentVariable({ name, label, metric }: Variable) {
  return {
    name,
    label,
    type: 'query',
    datasource: DATASOURCE,
    query: { qryType: 1, query: `label_values(${metric}, ${name})`, refId: name },
    refresh: 2,
    sort: 1,
    includeAll: true,
    multi: true,
    // Where a label is missing, everything has it empty.
    allValue: '.*',
    current: { text: 'All', value: '$__all' },
  }
}

function placeRows(rows: readonly Row[]) {
  let y = 0
  let id = 0
  return rows.flatMap(({ title, panels }) => {
    const heading = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    }
    y++
    const lines = breakLines(panels)
    const placed = lines.flatMap((line) => {
      let x = 0
      const shown = line.map((panel) => {
        const present = presentPanel(panel, { id: ++id, x, y })
        x += panel.width
        return present
      })
      y += Math.max(...line.map(heightOf))
      return shown
    })
    return [heading, ...placed]
  })
}

function breakLines(panels: readonly Panel[]): Panel[][] {
  const lines: Panel[][] = [[]]
  for (const panel of panels) {
    const taken = lines[lines.length - 1].reduce((sum, { width }) => sum + width, 0)
    if (taken + panel.width > COLUMNS) lines.push([])
    lines[lines.length - 1].push(panel)
  }
  return lines
}
