import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import type { Engine, EngineInput } from '../../../../worker/engines/engine.ts'
import { findInstalled } from '../../../../worker/engines/installed.ts'
import { createMockEngine } from '../../../../worker/engines/mock.ts'
import { createEngines } from '../../../../worker/engines/registry.ts'
import { type PersonLabels, parsePerson } from '../../../../worker/vision/person/parse.ts'
import { drawBest } from '../../../../worker/vision/quality/draw-best.ts'
import { describeProduct } from '../../../../worker/vision/quality/product.ts'
import { createPlane } from '../../../../worker/vision/raster/plane.ts'
import { createPyramid } from '../../../../worker/vision/raster/pyramid.ts'
import { readSample } from '../../../support/drape.ts'
import { copyTinyEngine } from '../../../support/tiny-engine.ts'
import { personIn, sharedModels } from '../../../support/vision.ts'

const NAME = 'fashn-vton'

describe('the better of two results of an engine that honours the seed', () => {
  let folder: string
  let engine: Engine
  let input: EngineInput
  let seeds: number[]
  let qualities: number[]

  const draw = async (seed: number, minQuality: number | null) => {
    seeds = []
    const shares: number[] = []
    const counted: Engine = {
      ...engine,
      run: (asked, context) => {
        seeds.push(asked.options.seed)
        return engine.run(asked, context)
      },
    }
    const options = {
      models: await sharedModels(),
      minQuality,
      signal: AbortSignal.timeout(60_000),
      onProgress: (share: number) => shares.push(share),
    }
    const [drawn] = (await drawBest(counted, { ...input, options: { ...input.options, seed } }, options)).drawn
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    return drawn.quality ?? Number.NaN
  }

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-draw-best-'))
    await copyTinyEngine(join(folder, NAME))
    const models = await sharedModels()
    const known = await findInstalled([NAME], folder)
    const found = (await createEngines([NAME], { models, provider: 'cpu', known, acknowledged: [] })).get(NAME)
    if (!found) throw new Error('the engine is not there')
    engine = found
    const [person, garment] = await Promise.all(
      ['persons/down-half-teal.jpg', 'garments/tshirt-navy.jpg'].map(async (path) =>
        decodeImage(await readSample(path)),
      ),
    )
    const options = { seed: 1, mode: 'fast' } as const
    input = {
      person,
      garment,
      garmentHash: 'shirt',
      category: 'tops',
      options,
      found: await personIn(person),
    }
    qualities = []
    for (const seed of [1, 2, 3, 4, 5]) qualities.push(await draw(seed, null))
  })
  afterAll(async () => {
    await engine?.release?.()
    await rm(folder, { recursive: true, force: true })
  })

  it('is scored, and drawn once when the first result is good enough', async () => {
    for (const quality of qualities) expect(quality > 0 && quality < 1).toBe(true)
    expect(await draw(1, qualities[0])).toBe(qualities[0])
    expect(seeds).toEqual([1])
  })

  it('is redrawn with another seed, and the better result is returned', async () => {
    const k = qualities.findIndex((quality, i) => i < 4 && quality < qualities[i + 1])
    expect(await draw(k + 1, qualities[k + 1])).toBe(qualities[k + 1])
    expect(seeds).toEqual([k + 1, k + 2])
  })

  it('is rejected when neither is good enough', async () => {
    await expect(draw(1, 1)).rejects.toMatchObject({ code: 'RESULT_REJECTED', retryable: false })
    expect(seeds).toEqual([1, 2])
  })

  it('is not redrawn by an engine that ignores the seed', async () => {
    const manifest = { ...engine.manifest, ignores: ['seed'] as const }
    const fixed = engine
    engine = { ...fixed, manifest }
    await expect(draw(1, 1)).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
    engine = fixed
    expect(seeds).toEqual([1])
  })

  describe('of several', () => {
    const several = async (more: Partial<Engine>, count: number, minQuality: number | null) =>
      drawBest(
        { ...engine, ...more },
        { ...input, options: { ...input.options, count } },
        {
          models: await sharedModels(),
          minQuality,
          signal: AbortSignal.timeout(60_000),
          onProgress: () => {},
        },
      )

    it('is drawn from the next seeds, and the best comes first', async () => {
      const { drawn, refused } = await several({}, 4, null)
      const ranked = [1, 2, 3, 4].toSorted((a, b) => qualities[b - 1] - qualities[a - 1])
      expect(drawn.map(({ seed }) => seed)).toEqual(ranked)
      expect(drawn.map(({ quality }) => quality)).toEqual(ranked.map((seed) => qualities[seed - 1]))
      expect(refused).toEqual([])
      expect((await several({ runSeeds: undefined }, 4, null)).drawn.map(({ seed }) => seed)).toEqual(ranked)
    })

    it('is redrawn with the seed of no other if it is not good enough, and left out if that is not either', async () => {
      const asked: (readonly number[])[] = []
      const runSeeds: Engine['runSeeds'] = async (given, seeds, context) => {
        asked.push(seeds)
        return (await engine.runSeeds?.(given, seeds, context)) ?? []
      }
      const run: Engine['run'] = async (given, context) => {
        asked.push([given.options.seed])
        return engine.run(given, context)
      }
      const best = qualities.slice(0, 3).indexOf(Math.max(...qualities.slice(0, 3)))
      const { drawn, refused } = await several({ run, runSeeds }, 3, qualities[best])
      expect(asked).toEqual([[1, 2, 3], [4, 5, 6].filter((_, i) => i !== best)])
      expect(drawn[0].quality).toBeGreaterThanOrEqual(qualities[best])
      expect(drawn.length + refused.length).toBe(3)
      for (const { error } of refused) expect(error.code).toBe('RESULT_REJECTED')
    })

    it('is left out if its seed spoils it, and all fail if all are spoiled', async () => {
      const spoiled = new DrapeError('RESULT_REJECTED', 'spoiled')
      const spoil =
        (isSpoiled: (seed: number) => boolean): Engine['runSeeds'] =>
        async (given, seeds, context) => {
          const results = (await engine.runSeeds?.(given, seeds, context)) ?? []
          return results.map((result, i) => (isSpoiled(seeds[i]) ? spoiled : result))
        }
      const { drawn, refused } = await several({ runSeeds: spoil((seed) => seed === 2) }, 2, null)
      expect(drawn.map(({ seed }) => seed)).toEqual([1])
      expect(refused).toEqual([{ seed: 2, error: spoiled }])
      await expect(several({ runSeeds: spoil(() => true) }, 2, null)).rejects.toBe(spoiled)
    })
  })

  it('is scored by the product that the engine measured', async () => {
    const plain = { ...input, garment: { ...input.garment, data: input.garment.data.map(() => 230) } }
    const { width, height } = input.garment
    const isInside = (x: number, y: number) =>
      x > 0.2 * width && x < 0.8 * width && y > 0.2 * height && y < 0.8 * height
    const data = Uint8ClampedArray.from({ length: width * height * 4 }, (_, k) =>
      isInside((k >> 2) % width, Math.floor((k >> 2) / width)) ? [20, 40, 90, 255][k & 3] : 0,
    )
    const cutting: Engine = {
      ...engine,
      run: async (asked, context) => ({
        ...(await engine.run(asked, context)),
        product: describeProduct({ width, height, channels: 4, data }),
      }),
    }
    const options = {
      models: await sharedModels(),
      minQuality: null,
      signal: AbortSignal.timeout(60_000),
      onProgress: () => {},
    }
    expect((await drawBest(engine, plain, options)).drawn[0].quality).toBeNull()
    expect((await drawBest(cutting, plain, options)).drawn[0].quality).not.toBeNull()
  })

  it('is rejected if a preview engine drew it on someone in a coat', async () => {
    const { found, person: photo } = input
    if (!found) throw new Error('the photo shows no person')
    const models = await sharedModels()
    const labels = await parsePerson(createPyramid(photo), found, models.session('parser'))
    const { top, outer } = labels.shares
    const coat = { ...labels, shares: { ...labels.shares, top: outer, outer: top } }
    const dimmed = { ...photo, data: photo.data.map((value) => 0.9 * value) }
    const previewOf = (seen: PersonLabels): Engine => ({
      ...engine,
      manifest: { ...engine.manifest, kind: 'preview' },
      run: async () => ({ image: dimmed, change: createPlane(photo, 1), labels: seen, warnings: [], timings: {} }),
    })
    const options = { models, minQuality: null, signal: AbortSignal.timeout(60_000), onProgress: () => {} }
    expect((await drawBest(previewOf(labels), input, options)).drawn[0].quality).toBeGreaterThan(0.8)
    const covered = drawBest(previewOf(coat), input, { ...options, minQuality: 0.8 })
    await expect(covered).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
  })

  it('has no score and is not rejected if a test engine drew it', async () => {
    const drawing = engine
    engine = createMockEngine()
    expect(await draw(1, 1)).toBeNaN()
    engine = drawing
    expect(seeds).toEqual([1])
  })
})
