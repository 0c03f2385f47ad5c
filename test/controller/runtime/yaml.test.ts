import { describe, expect, it } from 'vitest'
import { readYaml, writeYaml } from '../../../controller/runtime/yaml.ts'

describe('YAML', () => {
  it('reads several documents and skips empty ones', () => {
    expect(readYaml('# nothing\n---\na: |\n  two\n  lines\n---\nb: [1, "x"]\n')).toEqual([
      { a: 'two\nlines\n' },
      { b: [1, 'x'] },
    ])
  })

  it('merges maps', () => {
    expect(readYaml('a: &a { b: 1 }\nc: { <<: *a, d: 2 }\n')).toEqual([{ a: { b: 1 }, c: { b: 1, d: 2 } }])
  })

  it('quotes strings for YAML 1.1 parsers', () => {
    const data = ['yes', 'on', '1:30', '0o7', '1e3', '2020-01-01', '~']
    const text = writeYaml({ apiVersion: 'v1', kind: 'ConfigMap', ...{ data } })
    for (const value of data) expect(text).toContain(`- '${value}'\n`)
  })

  it.each([
    ['no YAML', 'a: [1'],
    ['a key that comes twice', 'a: 1\na: 2'],
    ['an unknown tag', 'a: !!js/function "x"'],
    [
      'a reference that grows without end',
      `a: &a [${'x,'.repeat(9)}]\n${grow('a', 'b')}${grow('b', 'c')}${grow('c', 'd')}`,
    ],
  ])('throws on %s', (_, text) => {
    expect(() => readYaml(text)).toThrow()
  })
})

function grow(from: string, to: string): string {
  return `${to}: &${to} [${`*${from},`.repeat(9)}]\n`
}
