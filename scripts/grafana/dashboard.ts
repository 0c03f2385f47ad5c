import {
  AnnotationQueryBuilder,
  ConstantVariableBuilder,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  type Dashboard as GrafanaDashboard,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DATASOURCE, presentPanel, type Row } from './panel.ts'

/** A variable at the top of a dashboard: the values of a label. */
export interface Variable {
  readonly name: string
  readonly label: string
  /** Metric with this label. */
  readonly metric: string
}

export interface Dashboard {
  /** Name of the file, and suffix of its uid. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly variables: readonly Variable[]
  readonly rows: readonly Row[]
}

const NAMESPACE: Variable = { name: 'namespace', label: 'Namespace', metric: 'drape_build_info' }

/** Converts a dashboard to Grafana's format. */
export function presentDashboard({ name, title, description, variables, rows }: Dashboard): GrafanaDashboard {
  const builder = new DashboardBuilder(`Drape / ${title}`)
    .uid(`drape-${name}`)
    .description(description)
    .tags(['drape'])
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .refresh('30s')
    .time({ from: 'now-6h', to: 'now' })
    .timezone('browser')
    .link(othersOfDrape())
    .annotation(alertsThatFire())
    .variables([
      new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'),
      // Base of the runbooks: a URL, or the folder beside the dashboards.
      new ConstantVariableBuilder('runbooks').value('runbooks'),
      ...[NAMESPACE, ...variables].map(presentVariable),
    ])
  for (const row of rows) {
    builder.withRow(new RowBuilder(row.title))
    for (const panel of row.panels) builder.withPanel(presentPanel(panel))
  }
  return settle(builder.build())
}

/** Links to the other dashboards, which preserve the variables. */
function othersOfDrape() {
  return new DashboardLinkBuilder('Drape')
    .type(DashboardLinkType.Dashboards)
    .tags(['drape'])
    .asDropdown(false)
    .includeVars(true)
    .keepTime(true)
}

function alertsThatFire() {
  return new AnnotationQueryBuilder()
    .name('Alerts')
    .datasource(DATASOURCE)
    .enable(true)
    .iconColor('red')
    .expr('max by (alertname) (ALERTS{alertname=~"Drape.*", alertstate="firing", namespace=~"$namespace"})')
    .titleFormat('{{alertname}}')
}

function presentVariable({ name, label, metric }: Variable) {
  return (
    new QueryVariableBuilder(name)
      .label(label)
      .datasource(DATASOURCE)
      .query(`label_values(${metric}, ${name})`)
      .refresh(VariableRefresh.OnTimeRangeChanged)
      .sort(VariableSort.AlphabeticalAsc)
      .multi(true)
      .includeAll(true)
      // Includes series without the label, for which it is empty.
      .allValue('.*')
      .current({ text: 'All', value: '$__all' })
  )
}

/** Assigns stable panel ids, because links contain them. Links to other dashboards are always visible. */
function settle(dashboard: GrafanaDashboard): GrafanaDashboard {
  return {
    ...dashboard,
    links: dashboard.links?.map(({ placement: _, ...link }) => link),
    panels: dashboard.panels?.map((panel, i) => ({ ...panel, id: i + 1 })),
  }
}
