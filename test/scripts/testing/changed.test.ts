import { describe, expect, it } from 'vitest'
import { chooseTests } from '../../../scripts/testing/changed.ts'
import { findNeeds, type Graph, reach } from '../../../scripts/testing/graph.ts'

const FILES = ['api/main.ts', 'api/products.ts', 'worker/main.ts', 'docs/api.md', 'docs/shops.md', 'scripts/dev']
const PLACES = {
  known: new Set(FILES),
  folders: new Map([['docs', ['docs/api.md', 'docs/shops.md']]]),
}

describe('the dependencies of a file', () => {
  const needs = (text: string) => findNeeds('test/products.test.ts', text, PLACES)

  it('include its imports and the files and folders whose paths it contains', () => {
    expect(needs(`import { a } from '../api/products.ts'`).imports).toEqual(['api/products.ts'])
    expect(needs("read(new URL('../docs/api.md', import.meta.url))").imports).toEqual(['docs/api.md'])
    for (const text of [`globSync('docs/*.md')`, `join(ROOT, 'docs')`])
      expect(needs(text).imports).toEqual(['docs/api.md', 'docs/shops.md'])
    expect(needs(`'api' and 'nothing/there.ts'`)).toEqual({ imports: [], starts: [] })
  })

  it('include the programs that it starts', () => {
    expect(needs(`startProgram('worker', {})`).starts).toEqual(['worker/main.ts'])
    expect(needs('drape = await startDrape(); drape.startWorker()').starts).toEqual(['api/main.ts', 'worker/main.ts'])
    expect(needs(`spawn(process.execPath, ['api/main.ts'])`).starts).toEqual(['api/main.ts'])
    expect(needs(`run('scripts/dev')`).starts).toEqual(['scripts/dev'])
  })
})

describe('the tests for a change', () => {
  const near = 'test/api/products.test.ts'
  const far = 'test/watermark.test.ts'
  const unit = 'test/unit.test.ts'
  const graph: Graph = new Map([
    ['api/main.ts', { imports: ['api/products.ts'], starts: [] }],
    ['api/products.ts', { imports: [], starts: [] }],
    [unit, { imports: ['api/products.ts'], starts: [] }],
    [near, { imports: [], starts: ['api/main.ts'] }],
    [far, { imports: [], starts: ['api/main.ts'] }],
    ['test/other.test.ts', { imports: [], starts: [] }],
  ])

  it('are those that import the changed file or start a program with it', () => {
    expect(reach(graph, near, 'import')).toEqual(new Set([near]))
    expect(chooseTests(['api/products.ts'], graph, {}).files).toEqual([unit, near, far])
    expect(chooseTests([far], graph, {}).files).toEqual([far])
    expect(chooseTests([], graph, {})).toEqual({ files: [], lines: ['Nothing has changed.'] })
  })

  it('fit into two minutes: those with a similar path come first', () => {
    const durations = { [unit]: 5, [near]: 60, [far]: 50 }
    const { files, lines } = chooseTests(['api/products.ts'], graph, durations)
    expect(files).toEqual([unit, near])
    expect(lines[1]).toBe('1 of these are left out to end within 2 minutes; scripts/test runs them.')
  })
})
