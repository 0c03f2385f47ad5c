import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createConditions } from '../../../../worker/engines/catvton/conditions.ts'
import { type DenoiseInput, denoise, latentNoise } from '../../../../worker/engines/catvton/denoise.ts'
import { type Graphs, openGraphs } from '../../../../worker/engines/catvton/graphs.ts'
import { decodePersons } from '../../../../worker/engines/catvton/latents.ts'
import type { CatVtonManifest } from '../../../../worker/engines/catvton/manifest.ts'
import { gaussianNoise } from '../../../../worker/engines/diffusion/noise.ts'
import type { Tensor } from '../../../../worker/inference/session.ts'
import { readBytes, readFloats } from '../../../support/safetensors.ts'

const FIXTURES = new URL('../../../fixtures/catvton/', import.meta.url)
const SIZE = { width: 64, height: 96 }
const STEPS = 4
const never = new AbortController().signal

describe('the sampler of CatVTON', () => {
  let reference: Record<string, Tensor>
  let manifest: CatVtonManifest
  let graphs: Graphs
  let input: DenoiseInput

  beforeAll(async () => {
    const file = await readFile(new URL('loop.safetensors', FIXTURES))
    reference = readFloats(file)
    const engine: CatVtonManifest = JSON.parse(await readFile(new URL('engine/engine.json', FIXTURES), 'utf8'))
    const steps = { fast: STEPS, balanced: 5, quality: 6 }
    manifest = { ...engine, sampling: { ...engine.sampling, steps } }
    graphs = await openGraphs(new URL('engine', FIXTURES).pathname, manifest, { provider: 'cpu' })
    const conditions = createConditions(graphs, manifest)
    const bitmap = (name: string) => ({ ...SIZE, channels: 3, data: Uint8Array.from(readBytes(file, name)) })
    const mask = { ...SIZE, data: new Float32Array(reference['in/mask'].data) }
    const person = await conditions.person(bitmap('in/person'), mask)
    const garment = await conditions.garment('product', async () => bitmap('in/garment'))
    input = {
      ...{ person: person.latent, mask: person.mask, garment, steps: conditions.steps('fast') },
      guidance: manifest.sampling.guidance,
      noise: (stream) => partOf(reference['in/noise'], stream),
    }
  })
  afterAll(() => graphs?.release())

  const draw = (changed: Partial<DenoiseInput> = {}, signal = never, onStep = (_: number) => {}) =>
    denoise(graphs.denoiser, { ...input, ...changed }, { signal, onStep })

  it('matches the NumPy reference in each step', async () => {
    for (let done = 1; done <= STEPS; done++) {
      const sample = await draw({ steps: input.steps.slice(0, done) })
      expect(differenceOf(sample, reference[`after/${done - 1}`])).toBeLessThanOrEqual(1e-4)
    }
  })

  it('matches the reference image', async () => {
    const bitmap = await decodePersons(graphs.decoder, await draw(), manifest.latentScale)
    expect(differenceOf(bitmap, reference['out/picture'])).toBeLessThanOrEqual(1e-4)
  })

  it('uses the documented noise, with another stream per step', () => {
    const described = gaussianNoise(10, { seed: 2 ** 40 + 5, sample: 2, stream: 7 })
    expect(differenceOf({ shape: [10], data: described }, reference.philox)).toBeLessThanOrEqual(1e-6)
    const noise = latentNoise(input.person, { seed: 1, samples: 1 })
    expect(noise(0).shape).toEqual([1, 4, 24, 8])
    expect(differenceOf(noise(0), noise(1))).toBeGreaterThan(1)
  })

  it('draws a sample identically alone and in a batch of four', async () => {
    const [one, four] = await Promise.all(
      [1, 4].map((samples) => draw({ noise: latentNoise(input.person, { seed: 5, samples }) })),
    )
    expect(four.shape).toEqual([4, 4, 24, 8])
    expect(differenceOf(partOf(four, 0), one)).toBeLessThanOrEqual(1e-4)
    expect(differenceOf(partOf(four, 1), one)).toBeGreaterThan(0.1)
  })

  it('runs a single row without guidance', async () => {
    const rows: number[] = []
    const counted = {
      ...graphs.denoiser,
      run: (feeds: Readonly<Record<string, Tensor>>) => {
        rows.push(feeds.sample.shape[0])
        return graphs.denoiser.run(feeds)
      },
    }
    for (const guidance of [1, 2.5])
      await denoise(
        counted,
        { ...input, guidance, steps: input.steps.slice(0, 1) },
        { signal: never, onStep: () => {} },
      )
    expect(rows).toEqual([1, 2])
  })

  it('reports every step and stops between two steps', async () => {
    const abort = new AbortController()
    const told: number[] = []
    const drawing = draw({}, abort.signal, (done) => {
      told.push(done)
      if (done === 2) abort.abort(new Error('enough'))
    })
    await expect(drawing).rejects.toThrow('enough')
    expect(told).toEqual([1, 2])
  })

  it('rejects a result that is not finite', async () => {
    const spoiled = { ...input.garment, data: input.garment.data.slice().fill(Number.NaN, 0, 1) }
    await expect(draw({ garment: spoiled })).rejects.toMatchObject({ code: 'RESULT_REJECTED', retryable: false })
    const sample = reference['after/3']
    const endless = { ...sample, data: sample.data.slice().fill(Number.POSITIVE_INFINITY, 0, 1) }
    await expect(decodePersons(graphs.decoder, endless, 1)).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
  })
})

/** One of the tensors along the first size. */
function partOf({ shape: [count, ...rest], data }: Tensor, index: number): Tensor {
  const size = data.length / count
  const shape = rest[0] === 1 ? rest : [1, ...rest]
  return { shape, data: data.subarray(index * size, (index + 1) * size) }
}

function differenceOf(found: Tensor, wanted: Tensor): number {
  expect(found.data).toHaveLength(wanted.data.length)
  return Math.max(...found.data.map((value, i) => Math.abs(value - wanted.data[i])))
}
