import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { DASHBOARDS, presentDashboards } from '../../scripts/grafana/main.ts'

const CHART = resolve(import.meta.dirname, '../../charts/drape')
const panels = DASHBOARDS.flatMap(({ title, rows }) =>
  rows.flatMap((row) => row.panels.map((panel) => ({ ...panel, name: `${title}: ${panel.title}` }))),
)

it('the dashboards of the chart match the output of scripts/dashboards', () => {
  const written = new Map(presentDashboards())
  const committed = readdirSync(resolve(CHART, 'dashboards')).filter((name) => name.endsWith('.json'))
  expect(committed.sort()).toEqual([...written.keys()].sort())
  for (const [name, text] of written) expect(readFileSync(resolve(CHART, 'dashboards', name), 'utf8')).toBe(text)
})

it('the panels of every dashboard do not overlap', () => {
  for (const [name, text] of presentDashboards()) {
    const { uid, panels: placed } = JSON.parse(text) as { uid: string; panels: Placed[] }
    expect(uid).toBe(`drape-${name.replace('.json', '')}`)
    const taken = new Set<string>()
    for (const { gridPos } of placed) {
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(taken.has(`${x} ${y}`)).toBe(false)
          taken.add(`${x} ${y}`)
        }
      }
    }
    expect(new Set(placed.map(({ id }) => id)).size).toBe(placed.length)
  }
})

it('every table column has a name', () => {
  const tables = presentDashboards().flatMap(([, text]) => (JSON.parse(text) as { panels: Table[] }).panels)
  const columns = tables
    .filter(({ type }) => type === 'table')
    .map(({ targets, transformations }) => {
      const named = transformations.flatMap(({ options }) => Object.entries(options.renameByName ?? {}))
      expect(named.map(([, name]) => name)).toEqual(targets.map(({ legendFormat }) => legendFormat))
      return named.map(([column]) => column)
    })
  expect(columns).toContainEqual(['Value'])
  expect(columns).toContainEqual(['Value #A', 'Value #B', 'Value #C'])
})

it('every panel has a unique title, a description and a namespace filter', () => {
  expect(new Set(panels.map(({ name }) => name)).size).toBe(panels.length)
  for (const { name, description, queries } of panels) {
    expect(description, name).toMatch(/^[A-Z0-9].+\.$/)
    for (const { expr } of queries) {
      const selectors = expr.match(/\{[^{}]*\}/g) ?? []
      expect(selectors.length, name).toBeGreaterThan(0)
      for (const selector of selectors) expect(selector, name).toContain('namespace=~"$namespace"')
    }
  }
})

interface Table {
  readonly type: string
  readonly targets: readonly { readonly legendFormat: string }[]
  readonly transformations: readonly { readonly options: { readonly renameByName?: Record<string, string> } }[]
}

interface Placed {
  readonly id: number
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
}
