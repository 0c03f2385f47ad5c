import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readYaml } from '../../controller/runtime/yaml.ts'
import type { RenderOptions } from '../../scripts/charts/render.ts'
import { run } from '../../scripts/stack/commands.ts'
import { type Chart, findChart } from '../chart/charts.ts'
import { codeOf } from '../support/documented-blocks.ts'
import { requestService } from '../support/request-service.ts'
import { findPrometheusProgram } from './programs.ts'

const CHART = resolve(import.meta.dirname, '../../charts/drape')
const RULES = globSync(join(CHART, 'rules/*.yaml')).sort()
const CASES = globSync(join(import.meta.dirname, 'rules/*.yaml')).sort()
const promtool = await findPrometheusProgram('promtool')

interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}
interface Custom {
  readonly seriesQuery: string
  readonly metricsQuery: string
}
interface Case {
  readonly name: string
  readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: readonly unknown[] }[]
}

const alerts = RULES.flatMap((path) =>
  (read(path) as { groups: { rules: (Alert | { record: string })[] }[] }).groups
    .flatMap(({ rules }) => rules)
    .filter((rule): rule is Alert => 'alert' in rule),
)
const cases = CASES.flatMap((path) => (read(path) as { tests: Case[] }).tests)

describe('every alert', () => {
  it('has a test case in which it fires and one in which it does not', () => {
    const raised = cases.flatMap(({ name, alert_rule_test: tests }) =>
      tests.map(({ alertname, exp_alerts: expected }) => {
        // The name says which alert it is about, so that a failure is understood.
        expect(name).toContain(`${alertname} ${expected.length > 0 ? 'fires' : 'is silent'}`)
        return `${alertname} ${expected.length > 0 ? 'fires' : 'is silent'}`
      }),
    )
    const missing = alerts.flatMap(({ alert }) =>
      ['fires', 'is silent'].map((what) => `${alert} ${what}`).filter((line) => !raised.includes(line)),
    )
    expect(missing).toEqual([])
  })

  it('pages only for what somebody gets up for', () => {
    const pages = alerts.filter(({ labels }) => labels.severity === 'critical').map(({ alert }) => alert)
    expect(pages.sort()).toEqual([
      'DrapeApiAbsent',
      'DrapeAvailabilityBurnsFast',
      'DrapeBacklogWithoutPool',
      'DrapeControllerAbsent',
      'DrapeLegalHoldsUnknown',
      'DrapeNoLeader',
      'DrapeNoWorkers',
      'DrapeNothingDispatched',
      'DrapeNotificationsDown',
      'DrapeObjectStorageFails',
      'DrapePoolWorkersFailing',
      'DrapePostgresDown',
      'DrapeRedisDown',
      'DrapeStartBurnsFast',
      'DrapeSuccessBurnsFast',
      'DrapeTimeToResultBurnsFast',
    ])
    expect(alerts.length).toBeLessThanOrEqual(30)
  })

  it('has a severity, a unique name and a one-sentence summary', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    for (const { alert, labels, annotations } of alerts) {
      expect(alert).toMatch(/^Drape([A-Z][a-z]+)+$/)
      expect(['critical', 'warning']).toContain(labels.severity)
      expect(annotations.summary).toMatch(/^.{20,}\.$/)
    }
  })
})

describe.skipIf(promtool === null)('promtool', () => {
  for (const path of RULES) {
    it(`takes the rules ${basename(path)}, and they do in every case what is expected`, async () => {
      await run(String(promtool), ['check', 'rules', '--lint=all', '--lint-fatal', path])
      await run(String(promtool), ['test', 'rules', join(import.meta.dirname, 'rules', basename(path))])
    })
  }

  it('passes with custom targets per engine and service class', async () => {
    const chart = await findChart('drape')
    if (chart === null) return
    const { path: folder } = await requestService('folder', null)
    await writeRules(folder, chart, 'shop', {
      'metrics.objectives.timeToResult.secondsByEngine': { 'fashn-vton': 120 },
      'metrics.objectives.timeToResult.percentByClass': { premium: 99.9 },
    })
    await run(String(promtool), ['check', 'rules', '--lint=all', '--lint-fatal', join(folder, 'shop.yaml')])
    const input = [
      // Slow, but within the seconds of its engine.
      finished('shop', 'fashn-vton', 'standard', 'le="30"', '0x70'),
      finished('shop', 'fashn-vton', 'standard', 'le="120"', '0+100x70'),
      finished('shop', 'fashn-vton', 'standard', 'code=""', '0+100x70'),
      // One in 100 is late: the whole budget of standard accounts, and ten times that of premium ones.
      ...['standard', 'premium'].flatMap((name) => [
        finished('shop', 'warp', name, 'le="30"', '0+99x70'),
        finished('shop', 'warp', name, 'code=""', '0+100x70'),
      ]),
    ]
    await expectBurnRates(folder, ['shop'], input, [burns('shop', 'standard', 1), burns('shop', 'premium', 10)])
  })

  it('keeps the objectives of two releases apart', async () => {
    const chart = await findChart('drape')
    if (chart === null) return
    const { path: folder } = await requestService('folder', null)
    await writeRules(folder, chart, 'shop', { 'metrics.objectives.timeToResult.percent': 99 })
    const strict = { percent: 99.9, seconds: 10 }
    await writeRules(folder, chart, 'other', { 'metrics.objectives.timeToResult': strict })
    // 1 of 100 is later than 30 seconds, and 10 are later than 10 seconds.
    const input = ['shop', 'other'].flatMap((namespace) => [
      finished(namespace, 'warp', 'standard', 'le="10"', '0+90x70'),
      finished(namespace, 'warp', 'standard', 'le="30"', '0+99x70'),
      finished(namespace, 'warp', 'standard', 'code=""', '0+100x70'),
    ])
    const expected = [burns('shop', 'standard', 1), burns('other', 'standard', 100)]
    await expectBurnRates(folder, ['shop', 'other'], input, expected)
  })

  it('evaluates the query for the Prometheus adapter', async () => {
    const { rules } = readYaml(codeOf('charts/drape/docs/sizing.md', 'yaml'))[0] as { rules: { custom: Custom[] } }
    const [{ seriesQuery, metricsQuery }] = rules.custom
    // What the adapter replaces, for one pod.
    const expr = metricsQuery
      .replaceAll('<<.Series>>', 'drape_http_request_seconds_bucket')
      .replaceAll('<<.LabelMatchers>>', 'namespace="drape",pod="api-1"')
      .replaceAll('<<.GroupBy>>', 'pod')
    const of = (route: string, le: string, values: string) => ({
      series: `drape_http_request_seconds_bucket{namespace="drape",pod="api-1",route="${route}",le="${le}"}`,
      values,
    })
    const input = [
      ...[of('/tryon/v1/try-on', '0.5', '0+60x10'), of('/tryon/v1/try-on', '+Inf', '0+60x10')],
      ...[
        of('/tryon/v1/generations/:id/events', '0.5', '0x10'),
        of('/tryon/v1/generations/:id/events', '+Inf', '0+60x10'),
      ],
    ]
    const check = (query: string, samples: readonly object[]) => ({
      expr: query,
      eval_time: '10m',
      exp_samples: samples,
    })
    const tests = [
      check(expr, [{ labels: '{pod="api-1"}', value: 0.475 }]),
      check(`count(${seriesQuery})`, [{ labels: '{}', value: 4 }]),
    ]
    const { path: folder } = await requestService('folder', null)
    const all = { tests: [{ interval: '1m', input_series: input, promql_expr_test: tests }] }
    writeFileSync(join(folder, 'adapter.yaml'), JSON.stringify(all))
    await run(String(promtool), ['test', 'rules', join(folder, 'adapter.yaml')])
  })

  it('reports a failing test case', async () => {
    const { path: folder } = await requestService('folder', null)
    const text = readFileSync(join(import.meta.dirname, 'rules/service.yaml'), 'utf8')
    const wrong = text.replace('../../..', resolve(CHART, '../..')).replace(', process: api }', ', process: worker }')
    writeFileSync(join(folder, 'wrong.yaml'), wrong)
    await expect(run(String(promtool), ['test', 'rules', join(folder, 'wrong.yaml')])).rejects.toThrow(
      'DrapePostgresDown',
    )
  })
})

/** Writes the rules of a release in a namespace to `<namespace>.yaml`. */
async function writeRules(folder: string, chart: Chart, namespace: string, set: RenderOptions['set']): Promise<void> {
  const objects = await chart.render({ namespace, set: { 'metrics.monitors': 'always', ...set } })
  const { spec } = objects.find(({ kind }) => kind === 'PrometheusRule') ?? { spec: { groups: [] } }
  writeFileSync(join(folder, `${namespace}.yaml`), JSON.stringify(spec))
}

/** Completed generations: a bucket of their seconds if `more` names `le`, otherwise their count. */
function finished(namespace: string, engine: string, serviceClass: string, more: string, values: string) {
  const name = more.startsWith('le') ? 'drape_generation_seconds_bucket' : 'drape_generations_finished_total'
  const labels = `namespace="${namespace}",engine="${engine}",class="${serviceClass}",status="COMPLETED",${more}`
  return { series: `${name}{${labels}}`, values }
}

function burns(namespace: string, serviceClass: string, value: number) {
  const labels = `engine="warp", class="${serviceClass}", namespace="${namespace}", slo="time-to-result"`
  return { labels: `{${labels}}`, value }
}

/** Expects the burn rates above 0 of the time to result, after 1 hour, under the rules of the releases together. */
async function expectBurnRates(
  folder: string,
  namespaces: readonly string[],
  input: readonly object[],
  expected: readonly object[],
): Promise<void> {
  const ratio = { expr: 'round(drape:slo_burn_rate:5m{slo="time-to-result"} > 0, 0.001)', eval_time: '1h' }
  const tests = {
    rule_files: namespaces.map((namespace) => `${namespace}.yaml`),
    evaluation_interval: '1m',
    group_eval_order: ['drape-targets', 'drape-objectives', 'drape-budgets'],
    tests: [{ interval: '1m', input_series: input, promql_expr_test: [{ ...ratio, exp_samples: expected }] }],
  }
  writeFileSync(join(folder, 'test.yaml'), JSON.stringify(tests))
  await run(String(promtool), ['test', 'rules', join(folder, 'test.yaml')], { cwd: folder })
}

function read(path: string): unknown {
  return readYaml(readFileSync(path, 'utf8'))[0]
}
