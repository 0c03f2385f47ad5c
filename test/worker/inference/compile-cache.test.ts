import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

function countFiles(folder: string): number {
  return existsSync(folder) ? readdirSync(folder, { recursive: true }).length : 0
}
