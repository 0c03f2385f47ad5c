import { expect, it } from 'vitest'
import type { Panel } from '../../scripts/grafana/main.ts'
import { findPanelFaults } from './panel-faults.ts'

const panel: Panel = {
  kind: 'lines',
  title: 'Jobs',
  description: 'Jobs by pool.',
  unit: 'short',
  queries: [{ expr: 'jobs', legend: '{{pool}}' }],
  width: 12,
}
const of = (metric: Record<string, string>, value = '1') => ({ metric, values: [[0, value]] as const })
const faultsOf = (changes: Partial<Panel>, ...results: ReturnType<typeof of>[][]) =>
  findPanelFaults({ ...panel, ...changes }, results)
const legends = (...names: string[]) => names.map((legend) => ({ expr: 'jobs', legend }))

it('accepts a panel with named series and values that fit its unit', () => {
  expect(faultsOf({}, [of({ pool: 'a' }), of({ pool: 'b' })])).toEqual([])
  expect(faultsOf({ queries: legends('{{code}}') }, [of({ code: 'x' }), of({})])).toEqual([])
})

it.each<[string, Partial<Panel>, ReturnType<typeof of>[][], string]>([
  ['a label that no series has', {}, [[of({ engine: 'warp' })]], 'has the legend {{pool}}, but no label pool'],
  ['a label too few', {}, [[of({ pool: 'a', state: 'x' }), of({ pool: 'a', state: 'y' })]], 'has the series "a" twice'],
  ['two queries of one name', { queries: legends('p', 'p') }, [[of({})], [of({})]], 'has the series "p" twice'],
  ['no name', { queries: legends('') }, [[of({})]], 'has a series without a name'],
  [
    'a number of two series',
    { kind: 'number', queries: legends('') },
    [[of({ a: '1' }), of({ a: '2' })]],
    'shows 2 values',
  ],
  ['percent as a share', { unit: 'percentunit' }, [[of({ pool: 'a' }, '37')]], 'shows 37 in the unit percentunit'],
  ['milliseconds as seconds', { unit: 's' }, [[of({ pool: 'a' }, '1763900000000')]], 'in the unit s'],
  ['more than its maximum', { max: 5 }, [[of({ pool: 'a' }, '6')]], 'shows 6'],
  ['a unit that Grafana lacks', { unit: 'secs' }, [[of({ pool: 'a' })]], 'has the unknown unit secs'],
  [
    'thresholds in disorder',
    {
      thresholds: [
        [2, 'red'],
        [1, 'yellow'],
      ],
    },
    [[of({ pool: 'a' })]],
    'do not ascend',
  ],
  [
    'a threshold out of reach',
    { unit: 'percentunit', thresholds: [[5, 'red']] },
    [[of({ pool: 'a' })]],
    'never reaches',
  ],
  [
    'columns that do not merge',
    { kind: 'table', queries: legends('One', 'Two') },
    [[of({ pool: 'a' })], [of({ engine: 'warp' })]],
    'different labels',
  ],
  [
    'columns of one name',
    { kind: 'table', queries: legends('One', 'One') },
    [[of({ pool: 'a' })], [of({ pool: 'a' })]],
    'name of their own',
  ],
])('finds %s', (_, changes, results, fault) => {
  expect(faultsOf(changes, ...results).join()).toContain(fault)
})
