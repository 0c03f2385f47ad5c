import { globSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { SERVICE_FAILURE_CODES } from '../../api/shared/contract/error-codes.ts'
import { readYaml } from '../../controller/runtime/yaml.ts'
import { DASHBOARDS } from '../../scripts/grafana/main.ts'

const CHART = resolve(import.meta.dirname, '../../charts/drape')

interface Alert {
  readonly alert?: string
  readonly labels?: { readonly severity: string }
  readonly annotations: { readonly runbook_url: string }
}

const alerts = globSync(`${CHART}/rules/*.yaml`)
  .flatMap((path) => (readYaml(readFileSync(path, 'utf8'))[0] as { groups: { rules: Alert[] }[] }).groups)
  .flatMap(({ rules }) => rules)
  .filter(({ alert }) => alert !== undefined)
const pages = new Map(
  globSync(`${CHART}/runbooks/*.md`).map((path) => [basename(path, '.md'), readFileSync(path, 'utf8')]),
)

it('every alert has a runbook with meaning, diagnosis and mitigation', () => {
  const listed = (severity = '') =>
    new RegExp(`^${severity === 'critical' ? 'Pages' : 'Tickets'}: .*$`, 'm').exec(pages.get('README') ?? '')?.[0]
  for (const { alert, labels, annotations } of alerts) {
    const name = basename(annotations.runbook_url, '.md')
    expect(annotations.runbook_url).toBe(`runbooks/${name}.md`)
    const page = pages.get(name) ?? ''
    expect(page).toMatch(new RegExp(`^# ${alert}\n\n.+\n\n## Diagnosis\n\n`))
    expect(page).toMatch(/```(sh|promql)\n.*\n## Mitigation\n\n1\. /s)
    expect(listed(labels?.severity)).toContain(`[${alert}](${name}.md)`)
  }
  expect(pages.size).toBe(alerts.length + 1)
})

it('every link between runbooks and from panels to runbooks has a target', () => {
  const linked = [...pages.values()].flatMap((page) =>
    [...page.matchAll(/\]\(([a-z-]+)\.md\)/g)].map(([, name]) => name),
  )
  const fromPanels = DASHBOARDS.flatMap(({ rows }) =>
    rows.flatMap(({ panels }) => panels.flatMap(({ runbooks = [] }) => runbooks)),
  )
  expect(linked.length).toBeGreaterThan(alerts.length)
  for (const name of [...linked, ...fromPanels]) expect([...pages.keys()]).toContain(name)
  // Every alert must be linked from a panel that shows its cause.
  expect(
    alerts
      .map(({ annotations }) => basename(annotations.runbook_url, '.md'))
      .filter((name) => !fromPanels.includes(name)),
  ).toEqual([])
})

it('every query counts the failures that the statistics of the dashboard count', () => {
  const own = SERVICE_FAILURE_CODES.join('|')
  const texts = globSync(`${CHART}/{rules,runbooks,templates}/*.{yaml,md,tpl}`).map((path) =>
    readFileSync(path, 'utf8'),
  )
  const matchers = texts.flatMap((text) => [...text.matchAll(/code[=!]~"([A-Z_|]+)"/g)].map(([, codes]) => codes))
  expect(matchers.length).toBeGreaterThan(5)
  expect(new Set(matchers)).toEqual(new Set([own, `${own}|GENERATION_CANCELLED`]))
})
