import { expect, it } from 'vitest'
import { table } from '../../../api/dashboard/html/elements.ts'

const headings = (options: Partial<Parameters<typeof table>[0]>) => {
  const rows = [
    ['1', ''],
    ['2', ''],
  ]
  const { markup } = table({ caption: 'Entries', head: ['Amount', 'Last'], rows, empty: '', ...options })
  return [...markup.matchAll(/<th [^>]*>(.*?)<\/th>/g)].map(([, title]) => title)
}

it('a table keeps its last column also if no row has a value for it', () => {
  expect(headings({})).toEqual(['Amount', 'Last'])
})

it('a table has no column for actions if the operator may run none of them', () => {
  expect(headings({ actions: true })).toEqual(['Amount'])
  expect(
    headings({
      actions: true,
      rows: [
        ['1', ''],
        ['2', 'Revoke'],
      ],
    }),
  ).toEqual(['Amount', 'Last'])
})
