import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DrapeError } from '../../../../api/shared/contract/errors.ts'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import type { Engine, EngineInput } from '../../../../worker/engines/engine.ts'
import { findInstalled } from '../../../../worker/engines/installed.ts'
import { createEngines } from '../../../../worker/engines/registry.ts'
import { type PersonLabels, parsePerson } from '../../../../worker/vision/person/parse.ts'
import { drawResults } from '../../../../worker/vision/quality/draw-results.ts'
import { createPlane } from '../../../../worker/vision/raster/plane.ts'
import { createPyramid } from '../../../../worker/vision/raster/pyramid.ts'
import { readSample } from '../../../support/drape.ts'
import { copyTinyEngine } from '../../../support/tiny-engine.ts'
import { personIn, sharedModels } from '../../../support/vision.ts'

const NAME = 'fashn-vton'

describe('the results of an engine', () => {
  let folder: string
  let engine: Engine
  let input: EngineInput

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-draw-results-'))
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
    input = { person, garment, garmentHash: 'shirt', category: 'tops', options, found: await personIn(person) }
  })
  afterAll(async () => {
    await engine?.release?.()
    await rm(folder, { recursive: true, force: true })
  })

  /** Draws `count` results with the engine, some of its parts replaced, and notes the progress. */
  const draw = async (more: Partial<Engine>, { count = 1, minQuality = null as number | null } = {}) => {
    const shares: number[] = []
    const options = {
      models: await sharedModels(),
      minQuality,
      signal: AbortSignal.timeout(60_000),
      onProgress: (share: number) => shares.push(share),
    }
    const results = await drawResults(
      { ...engine, ...more },
      { ...input, options: { ...input.options, count } },
      options,
    )
    expect(shares).toEqual(shares.toSorted((a, b) => a - b))
    return results
  }

  it.each(['at once', 'in turn'])('are drawn from the next seeds %s, without a quality, and differ', async (how) => {
    const { drawn, refused } = await draw(how === 'in turn' ? { runSeeds: undefined } : {}, { count: 3, minQuality: 1 })
    expect(drawn.map(({ seed, quality }) => [seed, quality])).toEqual([1, 2, 3].map((seed) => [seed, null]))
    expect(new Set(drawn.map(({ image }) => image.data.join())).size).toBe(3)
    expect(refused).toEqual([])
  })

  it('are left out if their seed spoils them, and all fail if all are spoiled', async () => {
    const spoiled = new DrapeError('RESULT_REJECTED', 'spoiled')
    const spoil =
      (isSpoiled: (seed: number) => boolean): Engine['runSeeds'] =>
      async (given, seeds, context) => {
        const results = (await engine.runSeeds?.(given, seeds, context)) ?? []
        return results.map((result, i) => (isSpoiled(seeds[i]) ? spoiled : result))
      }
    const { drawn, refused } = await draw({ runSeeds: spoil((seed) => seed === 2) }, { count: 2 })
    expect(drawn.map(({ seed }) => seed)).toEqual([1])
    expect(refused).toEqual([{ seed: 2, error: spoiled }])
    await expect(draw({ runSeeds: spoil(() => true) }, { count: 2 })).rejects.toBe(spoiled)
  })

  it('are previews with a quality, and refused below the minimum and if they lose someone in a coat', async () => {
    const { found, person: photo } = input
    if (!found) throw new Error('the photo shows no person')
    const models = await sharedModels()
    const labels = await parsePerson(createPyramid(photo), found, models.session('parser'))
    const { top, outer } = labels.shares
    const coat = { ...labels, shares: { ...labels.shares, top: outer, outer: top } }
    const dimmed = { ...photo, data: photo.data.map((value) => 0.9 * value) }
    const previewOf = (seen: PersonLabels, image = dimmed): Partial<Engine> => ({
      manifest: { ...engine.manifest, kind: 'preview' },
      run: async () => ({ image, change: createPlane(photo, 1), labels: seen, warnings: [], timings: {} }),
    })
    const [{ quality }] = (await draw(previewOf(labels))).drawn
    expect(quality).toBeGreaterThan(0.8)
    await expect(draw(previewOf(labels), { minQuality: (quality ?? 0) + 0.01 })).rejects.toMatchObject({
      code: 'RESULT_REJECTED',
      message: expect.stringMatching(/The quality is \d+ %; the account's minimum is \d+ %\.$/),
    })
    const nobody = { ...photo, data: photo.data.toReversed() }
    await expect(draw(previewOf(coat, nobody))).rejects.toMatchObject({
      code: 'RESULT_REJECTED',
      message: expect.stringMatching(/^Wide clothes .* hands\.$/),
    })
  })
})
