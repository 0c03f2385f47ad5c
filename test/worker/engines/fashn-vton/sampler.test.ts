import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConditions } from '../../../../worker/engines/fashn-vton/conditions.ts'
import { type DenoiseInput, denoise, denoiseEach, startNoise } from '../../../../worker/engines/fashn-vton/denoise.ts'
import { type Graphs, openGraphs } from '../../../../worker/engines/fashn-vton/graphs.ts'
import type { FashnVtonManifest } from '../../../../worker/engines/fashn-vton/manifest.ts'
import { toBitmap } from '../../../../worker/engines/fashn-vton/tensors.ts'
import { DeviceFault } from '../../../../worker/inference/device-fault.ts'
import type { Tensor } from '../../../../worker/inference/session.ts'
import { readBytes, readFloats } from '../../../support/safetensors.ts'

const FIXTURES = new URL('../../../fixtures/fashn-vton/', import.meta.url)
const WHOLE = { x: 0, y: 0, width: 48, height: 72 }
const never = new AbortController().signal

describe('the sampler of FASHN VTON', () => {
  let file: Buffer
  let published: Record<string, Tensor>
  let manifest: FashnVtonManifest
  let graphs: Graphs
  let input: DenoiseInput

  beforeAll(async () => {
    file = await readFile(new URL('tiny.sampler4.safetensors', FIXTURES))
    published = readFloats(file)
    const engine: FashnVtonManifest = JSON.parse(await readFile(new URL('engine/engine.json', FIXTURES), 'utf8'))
    // The published trace has four steps.
    manifest = { ...engine, sampling: { ...engine.sampling, steps: { fast: 2, balanced: 4, quality: 6 } } }
    graphs = await openGraphs(new URL('engine', FIXTURES).pathname, manifest, 'cpu')
    const conditions = createConditions(graphs, manifest)
    const { person_tokens: person } = await graphs.person.run({
      person: published['in/ca_images'],
      person_pose: published['in/person_poses'],
    })
    const { garment_tokens: garment } = await graphs.garment.run({
      garment: published['in/garment_images'],
      garment_pose: published['in/garment_poses'],
    })
    const plan = await conditions.plan('balanced', 'bottoms')
    input = { person, garment, nothing: await conditions.nothing(), plan, guidance: manifest.sampling.guidance }
  })
  afterAll(() => graphs?.release())

  it('matches the reference in each step', async () => {
    for (const done of [1, 2, 3, 4]) {
      const steps = input.plan.steps.slice(0, done)
      const options = { input: { ...input, plan: { ...input.plan, steps } }, signal: never, onStep: () => {} }
      const found = await denoise(graphs.denoise, published['in/noise'], options)
      expect(differenceOf(found, published[`x_after/${done - 1}`])).toBeLessThanOrEqual(1e-4)
    }
  })

  it('converts the reference sample to the reference bytes', async () => {
    const { data } = toBitmap(published['x_after/3'], WHOLE)
    expect(Buffer.from(data).equals(Buffer.from(readBytes(file, 'final_u8_hwc')))).toBe(true)
  })

  it('crops the requested region', () => {
    const whole = toBitmap(published['x_after/3'], WHOLE)
    const part = toBitmap(published['x_after/3'], { x: 5, y: 7, width: 3, height: 2 })
    const row = (y: number) => [...whole.data.subarray((y * 48 + 5) * 3, (y * 48 + 8) * 3)]
    expect([...part.data]).toEqual([...row(7), ...row(8)])
  })

  it('draws the same with a call for each step and with as many steps per call as have the same rows', async () => {
    const drawn: Tensor[] = []
    for (const [callMs, ends] of [
      [0, [1, 2, 3, 4]],
      [Number.POSITIVE_INFINITY, [1, 3, 4]],
    ] as const) {
      const told: number[] = []
      const options = { input, signal: never, onStep: (done: number) => told.push(done), callMs }
      drawn.push(await denoise(graphs.denoise, published['in/noise'], options))
      expect(told).toEqual(ends)
    }
    expect(drawn[0].data).toEqual(drawn[1].data)
  })

  describe('of several seeds', () => {
    const onProgress = () => {}
    const noises = () => [3, 4, 5].map((seed) => startNoise(manifest.size, seed))
    const alone = () =>
      denoiseEach(graphs.denoise, noises(), { input, signal: never, batching: { isPossible: false }, onProgress })

    it('draws together what it draws one after the other, in as many calls as one', async () => {
      let calls = 0
      const graph = {
        ...graphs.denoise,
        run: (feeds: Readonly<Record<string, Tensor>>) => {
          calls++
          return graphs.denoise.run(feeds)
        },
      }
      const shares: number[] = []
      const together = await denoiseEach(graph, noises(), {
        input,
        signal: never,
        batching: { isPossible: true },
        onProgress: (share) => shares.push(share),
      })
      expect(calls).toBeLessThanOrEqual(4)
      expect(shares.at(-1)).toBe(1)
      for (const [i, each] of (await alone()).entries())
        expect(differenceOf(together[i] as Tensor, each as Tensor)).toBeLessThanOrEqual(1e-4)
    })

    it('draws one after the other once the device lacks the memory for all', async () => {
      const batching = { isPossible: true }
      const sizes: number[] = []
      const small = {
        ...graphs.denoise,
        run: async (feeds: Readonly<Record<string, Tensor>>) => {
          sizes.push(feeds.sample.shape[0])
          if (feeds.sample.shape[0] > 1) throw new DeviceFault('OutOfMemory', 'Failed to allocate memory')
          return graphs.denoise.run(feeds)
        },
      }
      const options = { input, signal: never, batching, onProgress }
      expect(await denoiseEach(small, noises(), options)).toEqual(await alone())
      await denoiseEach(small, noises(), options)
      expect(sizes.filter((size) => size > 1)).toEqual([3])
    })

    it('rejects only the image that is not finite', async () => {
      const spoiled = noises().map(({ shape, data }, i) => ({
        shape,
        data: i === 1 ? data.map(() => Number.NaN) : data,
      }))
      const options = { input, signal: never, batching: { isPossible: true }, onProgress }
      const [first, second, third] = await denoiseEach(graphs.denoise, spoiled, options)
      expect(second).toMatchObject({ code: 'RESULT_REJECTED' })
      expect([first, third]).toEqual((await alone()).filter((_, i) => i !== 1))
    })
  })

  it('stops between two calls', async () => {
    const abort = new AbortController()
    const told: number[] = []
    const drawing = denoise(graphs.denoise, published['in/noise'], {
      input,
      signal: abort.signal,
      onStep: (done) => {
        told.push(done)
        if (done === 2) abort.abort(new Error('enough'))
      },
      callMs: 0,
    })
    await expect(drawing).rejects.toThrow('enough')
    expect(told).toEqual([1, 2])
  })

  it('rejects a result that is not finite, once after the last step', async () => {
    const spoiled = { ...input.person, data: input.person.data.slice().fill(Number.NaN, 0, 1) }
    const told: number[] = []
    // Only the first step gets NaN: the sample must keep it.
    const graph = {
      ...graphs.denoise,
      run: (feeds: Readonly<Record<string, Tensor>>) =>
        graphs.denoise.run(told.length === 0 ? feeds : { ...feeds, person_tokens: clean(feeds.person_tokens) }),
    }
    const drawing = denoise(graph, published['in/noise'], {
      input: { ...input, person: spoiled },
      signal: never,
      onStep: (done) => told.push(done),
      callMs: 0,
    })
    await expect(drawing).rejects.toMatchObject({ code: 'RESULT_REJECTED', retryable: false })
    expect(told).toEqual([1, 2, 3, 4])
  })
})

function clean({ shape, data }: Tensor): Tensor {
  return { shape, data: data.map((value) => (Number.isNaN(value) ? 0 : value)) }
}

function differenceOf(found: Tensor, wanted: Tensor): number {
  expect(found.shape).toEqual(wanted.shape)
  return Math.max(...found.data.map((value, i) => Math.abs(value - wanted.data[i])))
}
