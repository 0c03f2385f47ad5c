import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { commandsOf, runCommands } from '../../support/documented-blocks.ts'
import { changeEngineManifest, copyTinyEngine } from '../../support/tiny-engine.ts'

describe('the benchmark of an engine', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-gpu-'))
    await copyTinyEngine(join(folder, 'fashn-vton'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  async function measure(...args: string[]) {
    const program = resolve(import.meta.dirname, '../../../scripts/benchmarks/gpu.ts')
    const all = [program, '--engine-dir', folder, '--provider', 'cpu', ...args]
    const env = { ...process.env, PATH: `${folder}:${process.env.PATH}` }
    const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'], env })
    const [output, errors, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code, errors, measured: JSON.parse(output || 'null') }
  }

  it('runs an engine with the worker code, without a GPU', async () => {
    const { code, measured } = await measure('--engine', 'fashn-vton', '--pictures', '1')
    expect(code).toBe(0)
    expect(measured).toMatchObject({
      engine: 'fashn-vton 1.5.0',
      provider: 'cpu',
      operators: { cpu: expect.any(Number) },
      memory: { isEnough: true },
    })
    expect(measured.memory.measuredMiB).toBeGreaterThan(1)
    expect(measured.memory.measuredMiB).toBeLessThan(measured.memory.processMiB)
    const modes = Object.entries<{ steps: number; secondsPerStep: number }>(measured.modes)
    expect(modes.map(([mode, { steps }]) => [mode, steps])).toEqual([
      ['fast', 20],
      ['balanced', 30],
      ['quality', 50],
    ])
    for (const [, { secondsPerStep }] of modes) expect(secondsPerStep).toBeGreaterThan(0)
  })

  it('counts the use of the GPU only while steps run, and only the memory that it adds', async () => {
    // The driver of a GPU that was idle until the process opened its files.
    const driver = `#!${process.execPath}
if (process.argv[2].includes('name')) process.exit()
const sample = (figures) => {
  const now = new Date()
  console.log(now.toLocaleString('sv').replaceAll('-', '/') + '.' + String(now.getMilliseconds()).padStart(3, '0') + figures)
}
for (let idle = 0; idle < 100; idle++) sample(', 0, 500')
setInterval(sample, 50, ', 80, 900')
`
    await writeFile(join(folder, 'nvidia-smi'), driver, { mode: 0o755 })
    const { measured } = await measure('--pictures', '1')
    expect(measured.gpu).toEqual({ busy: 0.8, memoryMiB: 400 })
    await rm(join(folder, 'nvidia-smi'))
  })

  it('runs as documented', async () => {
    const commands = commandsOf('docs/engines/fashn-vton.md', 'Measure performance on your GPU')
    const placeholders = { '/models': folder, cuda: 'cpu --pictures 0' }
    expect(JSON.parse(await runCommands(commands, { folder, placeholders }))).toMatchObject({
      engine: 'fashn-vton 1.5.0',
    })
  })

  it('fails when the engine uses more memory than its manifest states', async () => {
    await changeEngineManifest(join(folder, 'fashn-vton'), (manifest) => {
      manifest.minMemoryMiB = 1
    })
    const { code, errors, measured } = await measure('--engine', 'fashn-vton', '--pictures', '0')
    expect(measured).toMatchObject({ modes: {}, memory: { minMemoryMiB: 1, isEnough: false } })
    expect(errors).toContain('its engine.json says 1 MiB')
    expect(code).toBe(1)
  })
})
