import { beforeAll, describe, expect, it } from 'vitest'
import type { Engine, EngineResult } from '../../../worker/engines/engine.ts'
import { createMockEngine } from '../../../worker/engines/mock.ts'
import { createEngines } from '../../../worker/engines/registry.ts'
import { DeviceFault } from '../../../worker/inference/device-fault.ts'
import type { Models } from '../../../worker/inference/models.ts'
import { runSelfTest } from '../../../worker/inference/self-test.ts'
import { sharedModels } from '../../support/vision.ts'

describe('the self-test of a worker', () => {
  let models: Models
  beforeAll(async () => {
    models = await sharedModels()
  })

  it('passes with the real engine in one run, and caches no garment', async () => {
    const engines = new Map(await createEngines(['warp', 'mock'], { models }))
    const warp = engines.get('warp') as Engine
    let runs = 0
    engines.set('warp', {
      ...warp,
      run: (...parameters) => {
        runs++
        return warp.run(...parameters)
      },
    })
    await runSelfTest({ models, engines })
    expect(runs).toBe(1)
    expect(warp.cache?.count()).toBe(0)
    await warp.release?.()
  })

  it('fails when the colour drifts by more than the tolerance', async () => {
    const warp = (await createEngines(['warp'], { models })).get('warp') as Engine
    let drawn: Promise<EngineResult> | undefined
    const drifting = (offset: number): Engine => ({
      ...warp,
      run: async (...parameters) => {
        drawn ??= warp.run(...parameters)
        const { image, ...rest } = await drawn
        const data = image.data.map((value, i) => (i % image.channels === 0 ? value + offset : value))
        return { ...rest, image: { ...image, data } }
      },
    })
    const test = (offset: number) => runSelfTest({ models, engines: new Map([['warp', drifting(offset)]]) })
    await test(8)
    await expect(test(16)).rejects.toThrow(DeviceFault)
    await expect(test(-16)).rejects.toThrow(DeviceFault)
    await warp.release?.()
  })

  it('fails when an engine returns an unexpected result', async () => {
    const broken: Engine = { ...createMockEngine() }
    await expect(runSelfTest({ models, engines: new Map([['warp', broken]]) })).rejects.toThrow(/chest/)
  })

  it('is skipped without that engine', async () => {
    await runSelfTest({ models, engines: await createEngines(['mock'], { models }) })
  })
})
