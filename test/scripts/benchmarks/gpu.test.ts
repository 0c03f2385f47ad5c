import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
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
    const child = spawn(process.execPath, all, { stdio: ['ignore', 'pipe', 'pipe'] })
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
