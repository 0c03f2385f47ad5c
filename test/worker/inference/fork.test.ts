import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { forkInference } from '../../../worker/inference/fork.ts'
import { until } from '../../support/until.ts'

it('the inference process writes the compile cache of Node, although a signal ends it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-inference-'))
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ models: [] }))
  const cache = join(folder, 'compiled')
  const before = process.env.NODE_COMPILE_CACHE
  process.env.NODE_COMPILE_CACHE = cache
  onTestFinished(() => {
    if (before === undefined) delete process.env.NODE_COMPILE_CACHE
    else process.env.NODE_COMPILE_CACHE = before
  })
  const { child } = forkInference({
    program: new URL('../../../worker/inference/process.ts', import.meta.url),
    env: { ENGINES: 'mock', MODEL_DIR: folder, EXECUTION_PROVIDER: 'cpu' },
  })
  expect((await once(child, 'message'))[0]).toMatchObject({ type: 'ready' })
  await until(async () => countFiles(cache) > 100)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await rm(folder, { recursive: true })
})

// Ten full collections without the options of the heap, each of which drops compiled code.
it('the inference process rarely collects all garbage, although bitmaps replace each other', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-inference-'))
  const program = join(folder, 'bitmaps.mjs')
  await writeFile(
    program,
    `import { constants, PerformanceObserver } from 'node:perf_hooks'
    let full = 0
    new PerformanceObserver((list) => {
      for (const { detail } of list.getEntries()) if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) full++
    }).observe({ type: 'gc' })
    const kept = []
    for (let i = 0; i < 600; i++) {
      kept[i % 40] = [new Float32Array(250_000), Array.from({ length: 3000 }, () => ({}))]
      await null
    }
    setTimeout(() => process.send(full), 200)`,
  )
  const { child } = forkInference({ program: pathToFileURL(program), env: {} })
  expect((await once(child, 'message'))[0]).toBeLessThan(6)
  child.kill('SIGKILL')
  await once(child, 'exit')
  await rm(folder, { recursive: true })
})

function countFiles(folder: string): number {
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0
}
