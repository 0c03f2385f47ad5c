import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LEFT_OUT, PROGRAMS } from '../../../scripts/container/programs.ts'
import { traceNeeds } from '../../../scripts/container/trace.ts'
import { ROOT } from '../../../scripts/stack/session.ts'

describe('the build context of images', () => {
  it.for(Object.keys(PROGRAMS))('contains every file that the programs of %s read', async (target) => {
    const isIgnored = await readIgnored()
    const { files } = traceNeeds(ROOT, PROGRAMS[target], { leftOut: LEFT_OUT[target] })
    expect(files.length).toBeGreaterThan(20)
    expect(files.filter(isIgnored)).toEqual([])
  })

  it('cannot be traced through a file reference without a name', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'drape-trace-'))
    await writeFile(join(folder, 'style.css'), '')
    const trace = async (text: string) => {
      await writeFile(join(folder, 'main.ts'), text)
      return traceNeeds(folder, ['main.ts']).files
    }
    expect(await trace("new URL('style.css', import.meta.url)")).toEqual(['main.ts', 'style.css'])
    await expect(trace("['style.css'].map((name) => new URL(name, import.meta.url))")).rejects.toThrow(
      'main.ts refers to',
    )
    await rm(folder, { recursive: true })
  })

  it('excludes files that no image contains', async () => {
    const isIgnored = await readIgnored()
    expect(['test/flow.test.ts', 'scripts/benchmarks/bench.ts', '.git/config'].filter(isIgnored)).toHaveLength(3)
  })
})

/** As builders read .containerignore: all is ignored but what a line takes back, and of that what a later line names. */
async function readIgnored(): Promise<(path: string) => boolean> {
  const lines = (await readFile(join(ROOT, '.containerignore'), 'utf8'))
    .split('\n')
    .filter((line) => /^[^#]/.test(line))
  const isBelow = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
  return (path) =>
    lines.reduce((ignored, line) => {
      if (line === '*') return true
      const isTaken = line.startsWith('!')
      return isBelow(path, isTaken ? line.slice(1) : line) ? !isTaken : ignored
    }, false)
}
