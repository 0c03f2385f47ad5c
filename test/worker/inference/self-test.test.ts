import { describe, expect, it } from 'vitest'
import type { Engine, EngineResult } from '../../../worker/engines/engine.ts'
import { createMockEngine } from '../../../worker/engines/mock.ts'
import { createEngines } from '../../../worker/engines/registry.ts'
import { DeviceFault } from '../../../worker/inference/device-fault.ts'
import { runSelfTest, warmUp } from '../../../worker/inference/self-test.ts'
import { sharedModels } from '../../support/vision.ts'

describe('the self-test of a worker', async () => {
  const models = await sharedModels()

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

  it('is repeated until it gets no faster, caching no garment, or until the first job', async () => {
    const warp = (await createEngines(['warp'], { models })).get('warp') as Engine
    const drawn = Promise.withResolvers<EngineResult>()
    let runs = 0
    const firstJob = new AbortController()
    const engine: Engine = {
      ...warp,
      run: async (...parameters) => {
        if (++runs === 1) drawn.resolve(warp.run(...parameters))
        const { image, ...rest } = await drawn.promise
        return { ...rest, image: { ...image, data: image.data.slice() } }
      },
    }
    const parts = { models, engines: new Map([['warp', engine]]), signal: firstJob.signal }
    await warmUp(parts)
    expect(runs).toBeGreaterThan(3)
    expect(warp.cache?.count()).toBe(0)
    const before = runs
    const warming = warmUp(parts)
    firstJob.abort()
    await expect(warming).rejects.toThrow('aborted')
    expect(runs).toBe(before)
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
