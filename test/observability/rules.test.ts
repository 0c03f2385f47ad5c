import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { run } from '../../scripts/stack/commands.ts'
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
  it('has a case in which it fires and one in which it is silent', () => {
    const told = cases.flatMap(({ name, alert_rule_test: tests }) =>
      tests.map(({ alertname, exp_alerts: expected }) => {
        // The name says which alert it is about, so that a failure is understood.
        expect(name).toContain(`${alertname} ${expected.length > 0 ? 'fires' : 'is silent'}`)
        return `${alertname} ${expected.length > 0 ? 'fires' : 'is silent'}`
      }),
    )
    const missing = alerts.flatMap(({ alert }) =>
      ['fires', 'is silent'].map((what) => `${alert} ${what}`).filter((line) => !told.includes(line)),
    )
    expect(alerts.length).toBeGreaterThan(30)
    expect(missing).toEqual([])
  })

  it('is critical or a warning, has a name of its own, and says in a sentence what is wrong', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    for (const { alert, labels, annotations } of alerts) {
      expect(alert).toMatch(/^Drape([A-Z][a-z]+)+$/)
      expect(['critical', 'warning']).toContain(labels.severity)
      expect(annotations.summary).toMatch(/^.{20,}\.$/)
    }
  })
})

describe.skipIf(promtool === null)('promtool', { timeout: 300_000 }, () => {
  for (const path of RULES) {
    it(`takes the rules ${basename(path)}, and they do in every case what is expected`, async () => {
      await run(String(promtool), ['check', 'rules', '--lint=all', '--lint-fatal', path])
      await run(String(promtool), ['test', 'rules', join(import.meta.dirname, 'rules', basename(path))])
    })
  }

  it('tells of a case that is not as expected', async () => {
    const { path: folder } = await requestService('folder', null)
    const text = readFileSync(join(import.meta.dirname, 'rules/service.yaml'), 'utf8')
    const wrong = text.replace('../../..', resolve(CHART, '../..')).replace(', process: worker }', ', process: api }')
    writeFileSync(join(folder, 'wrong.yaml'), wrong)
    await expect(run(String(promtool), ['test', 'rules', join(folder, 'wrong.yaml')])).rejects.toThrow('DrapeNotReady')
  })
})

function read(path: string): unknown {
  return readYaml(readFileSync(path, 'utf8'))[0]
}
