import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { copyTinyEngine } from '../support/tiny-engine.ts'

it('measures an engine through the code of workers, also without a GPU', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'drape-gpu-'))
  await copyTinyEngine(join(folder, 'fashn-vton'))
  const program = resolve(import.meta.dirname, '../../scripts/gpu.ts')
  const args = [program, '--engine-dir', folder, '--provider', 'cpu', '--pictures', '1']
  const { stdout } = await promisify(execFile)(process.execPath, args)
  const measured = JSON.parse(stdout)
  expect(measured).toMatchObject({
    engine: 'fashn-vton 1.5.0',
    provider: 'cpu',
    operators: { cpu: expect.any(Number) },
  })
  expect(Object.keys(measured.modes)).toEqual(['fast', 'balanced', 'quality'])
  const counts = Object.values<{ steps: number }>(measured.modes).map(({ steps }) => steps)
  expect(counts).toEqual([20, 30, 50])
  for (const { secondsPerStep } of Object.values<{ secondsPerStep: number }>(measured.modes))
    expect(secondsPerStep).toBeGreaterThan(0)
  await rm(folder, { recursive: true, force: true })
})
