import { PanelBuilder as BarGaugeBuilder } from '@grafana/grafana-foundation-sdk/bargauge'
import type { Builder } from '@grafana/grafana-foundation-sdk/cog'
import {
  BigValueColorMode,
  BigValueGraphMode,
  GraphThresholdsStyleConfigBuilder,
  GraphThresholdsStyleMode,
  LegendDisplayMode,
  LegendPlacement,
  SortOrder,
  StackingConfigBuilder,
  StackingMode,
  TooltipDisplayMode,
  VisibilityMode,
  VizLegendOptionsBuilder,
  VizOrientation,
  VizTooltipOptionsBuilder,
} from '@grafana/grafana-foundation-sdk/common'
import {
  DashboardLinkBuilder,
  DashboardLinkType,
  type Panel as GrafanaPanel,
  MappingType,
  ThresholdsConfigBuilder,
  ThresholdsMode,
  type ValueMapping,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { PanelBuilder as HeatmapBuilder } from '@grafana/grafana-foundation-sdk/heatmap'
import { DataqueryBuilder, PromQueryFormat } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as StatesBuilder } from '@grafana/grafana-foundation-sdk/statetimeline'
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table'
import { PanelBuilder as TimeseriesBuilder } from '@grafana/grafana-foundation-sdk/timeseries'

/** A query of a panel. `legend` is the name of its series, with labels as `{{label}}`. */
export interface Query {
  readonly expr: string
  readonly legend: string
  /** Shows the traces that Prometheus stores as exemplars of the queried histogram. */
  readonly exemplars?: boolean
}

/** A colour from a value upwards. */
export type Threshold = readonly [from: number, colour: 'green' | 'yellow' | 'orange' | 'red' | 'blue']

/** Content of a panel, independent of Grafana's format. */
export interface Panel {
  readonly kind: 'lines' | 'areas' | 'number' | 'table' | 'states' | 'bars' | 'heatmap'
  readonly title: string
  /** Meaning of the panel, and how to react. */
  readonly description: string
  /** A Grafana unit: `s`, `reqps`, `percentunit`, `short`, `bytes`, … */
  readonly unit: string
  readonly queries: readonly Query[]
  /** Width in 24ths of the dashboard. */
  readonly width: number
  readonly thresholds?: readonly Threshold[]
  readonly max?: number
  /** Whether values below 0 are shown; otherwise the scale starts at 0. */
  readonly isSigned?: boolean
  /** Shown instead of an empty graph. */
  readonly noData?: string
  /** Names of the related runbooks, without `.md`. */
  readonly runbooks?: readonly string[]
}

/** A row of panels with a title. */
export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

/** The data source selected at the top of the dashboard. */
export const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

/** Converts a panel to Grafana's format. */
export function presentPanel(panel: Panel): Builder<GrafanaPanel> {
  const { title, description, unit, width, thresholds = [], max, isSigned = false, noData, runbooks = [] } = panel
  const steps = [{ color: 'green', value: null }, ...thresholds.map(([value, color]) => ({ color, value }))]
  const links = runbooks.map((name) =>
    new DashboardLinkBuilder(`Runbook: ${name}`)
      .type(DashboardLinkType.Link)
      .url(`$runbooks/${name}.md`)
      .targetBlank(true),
  )
  const builder = startPanel(panel)
    .title(title)
    .description(description)
    .datasource(DATASOURCE)
    .unit(unit)
    .span(width)
    .thresholds(new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps(steps))
    .links(links)
    .targets(panel.queries.map((query, i) => presentQuery(panel.kind, query, i)))
  if (!isSigned) builder.min(0)
  if (noData !== undefined) builder.noValue(noData)
  return max === undefined ? builder : builder.max(max)
}

function startPanel({ kind, queries, thresholds = [] }: Panel) {
  if (kind === 'number') {
    return new StatBuilder().height(4).colorMode(BigValueColorMode.Value).graphMode(BigValueGraphMode.Area)
  }
  if (kind === 'bars') return new BarGaugeBuilder().height(8).orientation(VizOrientation.Horizontal)
  if (kind === 'heatmap') return new HeatmapBuilder().height(8).calculate(false)
  if (kind === 'states') return startStates()
  if (kind === 'table')
    return new TableBuilder().height(8).transformations([{ id: 'merge', options: {} }, nameColumns(queries)])
  return startLines({ isStacked: kind === 'areas', hasLimits: thresholds.length > 0 })
}

/** In a table each query is a column, whose name must be set explicitly. */
function nameColumns(queries: readonly Query[]) {
  const names = queries.map(({ legend }, i) => [queries.length === 1 ? 'Value' : `Value #${refIdOf(i)}`, legend])
  return { id: 'organize', options: { excludeByName: { Time: true }, renameByName: Object.fromEntries(names) } }
}

function startStates() {
  const isOn = {
    type: MappingType.ValueToText,
    options: { 0: { text: '–', color: 'transparent' }, 1: { text: 'yes', color: 'orange' } },
  }
  return new StatesBuilder()
    .height(7)
    .mergeValues(true)
    .showValue(VisibilityMode.Never)
    .fillOpacity(70)
    .mappings([isOn as ValueMapping])
}

function startLines({ isStacked, hasLimits }: { isStacked: boolean; hasLimits: boolean }) {
  const legend = new VizLegendOptionsBuilder()
    .showLegend(true)
    .displayMode(LegendDisplayMode.Table)
    .placement(LegendPlacement.Bottom)
    .calcs(['lastNotNull', 'max'])
  return new TimeseriesBuilder()
    .height(8)
    .legend(legend)
    .tooltip(new VizTooltipOptionsBuilder().mode(TooltipDisplayMode.Multi).sort(SortOrder.Descending))
    .showPoints(VisibilityMode.Never)
    .fillOpacity(isStacked ? 30 : 5)
    .stacking(new StackingConfigBuilder().mode(isStacked ? StackingMode.Normal : StackingMode.None))
    .thresholdsStyle(
      new GraphThresholdsStyleConfigBuilder().mode(
        hasLimits ? GraphThresholdsStyleMode.Line : GraphThresholdsStyleMode.Off,
      ),
    )
}

/** The kind of panel determines whether the query is instant or a range. */
function presentQuery(kind: Panel['kind'], { expr, legend, exemplars = false }: Query, i: number) {
  const query = new DataqueryBuilder().refId(refIdOf(i)).datasource(DATASOURCE).expr(expr).legendFormat(legend)
  if (exemplars) query.exemplar(true)
  if (kind === 'table') return query.instant().format(PromQueryFormat.Table)
  if (kind === 'bars') return query.instant().format(PromQueryFormat.TimeSeries)
  return query.range().format(kind === 'heatmap' ? PromQueryFormat.Heatmap : PromQueryFormat.TimeSeries)
}

function refIdOf(i: number): string {
  return String.fromCharCode('A'.charCodeAt(0) + i)
}
