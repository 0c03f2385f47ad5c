import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { findHelm } from '../../../scripts/charts/helm.ts'
import { run } from '../../../scripts/stack/commands.ts'
import { findGoTool, type GoTool } from '../../../scripts/stack/go-tool.ts'

const folder = await mkdtemp(join(tmpdir(), 'drape-go-'))
const made = new Set([folder])
afterAll(() => Promise.all([...made].map((path) => rm(path, { recursive: true, force: true }))))

describe('Helm', () => {
  it('is that of the machine, if that has version 4', async () => {
    const { PATH } = process.env
    process.env.PATH = `${folder}:${PATH}`
    try {
      await writeFile(join(folder, 'helm'), '#!/bin/sh\necho v4.9.1+gabc', { mode: 0o755 })
      expect(await findHelm()).toBe(join(folder, 'helm'))
    } finally {
      process.env.PATH = PATH
    }
  })
})

describe('a tool built from a Go module', () => {
  it('is built once for concurrent calls, and rebuilt when its source changes', async () => {
    await writeFile(join(folder, 'go.mod'), 'module speaker\n\ngo 1.21\n')
    await writeProgram('print("first ", name)')
    const messages: string[] = []
    const [one, two] = await Promise.all([find('Ann', messages), find('Ann', messages)])
    expect(two).toBe(one)
    expect(messages).toEqual(['Building speaker from its Go module, once; that may take minutes …'])
    expect(await run(one, [])).toBe('first Ann')
    expect(await run(await find('Bob', messages), [])).toBe('first Bob')
    await writeProgram('print("second ", name)')
    expect(await run(await find('Ann', messages), [])).toBe('second Ann')
  })

  it('reports the compiler error when the build fails', async () => {
    await writeProgram('missing()')
    expect(await findGoTool(speaker('Ann'), () => {})).toEqual({ unavailable: expect.stringContaining('missing') })
  })
})

function speaker(name: string): GoTool {
  return { name: 'speaker', package: '.', source: { folder }, variables: { 'main.name': name } }
}

async function writeProgram(statement: string): Promise<void> {
  const lines = ['package main', 'import "os"', 'var name string']
  const print = 'func print(words ...string) { for _, word := range words { os.Stdout.WriteString(word) } }'
  await writeFile(join(folder, 'main.go'), [...lines, print, `func main() { ${statement} }`, ''].join('\n'))
}

async function find(name: string, messages: string[]): Promise<string> {
  const found = await findGoTool(speaker(name), (text) => messages.push(text))
  if (typeof found !== 'string') throw new Error(found.unavailable)
  for (const path of [found, join(dirname(found), 'speaker.lock'), join(dirname(found), 'speaker.lock.pid')])
    made.add(path)
  return found
}
