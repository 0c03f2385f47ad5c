import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ENGINE_STAGES } from '../../../../api/shared/engines/stage-order.ts'
import { decodeImage } from '../../../../api/shared/image/image.ts'
import { DEFAULT_CONFORMANCE } from '../../../../worker/engines/conformance.ts'
import type { Engine, EngineInput, EngineResult } from '../../../../worker/engines/engine.ts'
import { openGraphs } from '../../../../worker/engines/fashn-vton/graphs.ts'
import type { FashnVtonManifest } from '../../../../worker/engines/fashn-vton/manifest.ts'
import { proveGraphs } from '../../../../worker/engines/fashn-vton/self-test.ts'
import { findInstalled } from '../../../../worker/engines/installed.ts'
import { createEngines } from '../../../../worker/engines/registry.ts'
import type { Models } from '../../../../worker/inference/models.ts'
import type { Provider } from '../../../../worker/inference/session.ts'
import { readSample } from '../../../support/drape.ts'
import { addPose, changeEngineFile, changeEngineManifest, copyTinyEngine } from '../../../support/tiny-engine.ts'
import { personIn, sharedModels } from '../../../support/vision.ts'

const NAME = 'fashn-vton'
const never = new AbortController().signal

describe('the engine FASHN VTON', () => {
  let directory: string
  let models: Models

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'drape-fashn-vton-'))
    models = await sharedModels()
  })
  afterAll(async () => {
    await rm(directory, { recursive: true, force: true })
  })

  async function open(
    at: string,
    { provider = 'cpu', acknowledged = [] }: { provider?: Provider; acknowledged?: readonly string[] } = {},
  ): Promise<Engine> {
    const known = await findInstalled([NAME], at)
    const engine = (await createEngines([NAME], { models, provider, known, acknowledged })).get(NAME)
    if (!engine) throw new Error('the engine is not there')
    return engine
  }

  /** A copy of the tiny engine, changed; resolves with the directory it is in. */
  async function install(change: (folder: string) => Promise<void>): Promise<string> {
    const at = await mkdtemp(join(directory, 'copy-'))
    await copyTinyEngine(join(at, NAME))
    await change(join(at, NAME))
    return at
  }

  describe('with valid files', () => {
    let engine: Engine
    let input: EngineInput

    beforeAll(async () => {
      engine = await open(await install(async () => {}))
      const [person, garment] = await Promise.all(
        ['persons/down-half-teal.jpg', 'garments/tshirt-navy.jpg'].map(async (path) =>
          decodeImage(await readSample(path)),
        ),
      )
      const options = { seed: 1, mode: 'fast' } as const
      input = { person, found: await personIn(person), garment, garmentHash: 'shirt', category: 'tops', options }
    })
    afterAll(() => engine?.release?.())

    it('passes its self-test, and reports execution providers', async () => {
      expect(await engine.selfTest?.()).toMatchObject({ operators: { cpu: expect.any(Number) } })
    })

    it('draws several seeds as it draws each alone, with a change of its own for each', async () => {
      const context = { signal: never, onProgress: () => {} }
      const drawn = await engine.runSeeds?.(input, [1, 2], context)
      const [first, second] = (drawn ?? []) as readonly EngineResult[]
      for (const [seed, { image, change }] of [first, second].entries()) {
        const alone = await engine.run({ ...input, options: { ...input.options, seed: seed + 1 } }, context)
        expect({ image, change }).toEqual({ image: alone.image, change: alone.change })
      }
      expect(first.image.data).not.toEqual(second.image.data)
      expect(first.change.data).not.toBe(second.change.data)
    })

    it('reports progress after each stage, and from the first step on', async () => {
      const shares: number[] = []
      await engine.run(input, { signal: never, onProgress: (share) => shares.push(share) })
      expect(shares).toEqual(shares.toSorted((a, b) => a - b))
      expect(shares.filter((share) => share > 0.1 && share < 0.2)).toHaveLength(1)
      expect(shares.at(-1)).toBe(1)
    })

    it('measures its stages in the published order', async () => {
      const { timings } = await engine.run(input, { signal: never, onProgress: () => {} })
      const names = Object.keys(timings)
      expect(names).toEqual(ENGINE_STAGES.filter((name) => names.includes(name)))
      expect(names).toEqual(expect.arrayContaining(['pose', 'denoise', 'change']))
    })

    it('stops after the first step', async () => {
      const abort = new AbortController()
      let last = 0
      const onProgress = (share: number) => {
        last = share
        if (share > 0.1) abort.abort(new Error('enough'))
      }
      await expect(engine.run(input, { signal: abort.signal, onProgress })).rejects.toThrow('enough')
      expect(last).toBeLessThan(0.2)
    })

    it('uses the detected category when none is given', async () => {
      const told = await engine.run(input, { signal: never, onProgress: () => {} })
      const seen = await engine.run({ ...input, category: null }, { signal: never, onProgress: () => {} })
      expect(seen.detected).toMatchObject({ category: 'tops' })
      expect(seen.image).toEqual(told.image)
      const blank = { ...input.garment, data: new Uint8Array(input.garment.data.length).fill(200) }
      const other = { ...input, garment: blank, garmentHash: 'blank', category: null }
      const { warnings } = await engine.run(other, { signal: never, onProgress: () => {} })
      expect(warnings).toContain('CATEGORY_ASSUMED')
    })

    it('encodes a product once per hash', async () => {
      const garment = await decodeImage(await readSample('garments/tshirt-vneck-red.jpg'))
      const run = async (changed: Partial<EngineInput>) =>
        (await engine.run({ ...input, ...changed }, { signal: never, onProgress: () => {} })).image
      const known = await run({ garment })
      expect(known).toEqual(await run({}))
      expect(known).not.toEqual(await run({ garment, garmentHash: 'red' }))
    })

    it('warns of an enlarged result at full resolution', async () => {
      const options = { ...input.options, fullResolution: true }
      const { warnings } = await engine.run({ ...input, options }, { signal: never, onProgress: () => {} })
      expect(warnings).toEqual(['POSE_WITHOUT_HANDS', 'RESULT_ENLARGED'])
    })

    it('rejects a photo without a person', async () => {
      const blank = { ...input.person, data: new Uint8Array(input.person.data.length).fill(200) }
      const run = engine.run({ ...input, person: blank, found: undefined }, { signal: never, onProgress: () => {} })
      await expect(run).rejects.toMatchObject({ code: 'NO_PERSON_DETECTED' })
    })
  })

  describe('with DWPose', () => {
    it('draws the DWPose skeleton with hands, without warnings', async () => {
      const [person, garment] = await Promise.all(
        ['persons/down-half-teal.jpg', 'garments/tshirt-navy.jpg'].map(async (path) =>
          decodeImage(await readSample(path)),
        ),
      )
      const input = {
        person,
        found: await personIn(person),
        garment,
        garmentHash: 'shirt',
        category: 'tops' as const,
        options: { seed: 1, mode: 'fast' as const },
      }
      const draw = async (at: string) => {
        const engine = await open(at)
        const result = await engine.run(input, { signal: never, onProgress: () => {} })
        await engine.release?.()
        return result
      }
      const [plain, posed] = [await draw(await install(async () => {})), await draw(await install(addPose))]
      expect(plain.warnings).toEqual(['POSE_WITHOUT_HANDS'])
      expect(posed.warnings).toEqual([])
      expect(posed.image).not.toEqual(plain.image)
    })

    it('opens without acknowledgement only if its license allows commercial use', async () => {
      const at = await install((folder) => addPose(folder, { commercial: false }))
      await expect(open(at)).rejects.toThrow(
        'The model "dwpose" of the engine "fashn-vton" is under LicenseRef-DWPose, which forbids commercial use',
      )
      for (const acknowledged of [['dwpose'], [NAME]]) await (await open(at, { acknowledged })).release?.()
    })

    it('passes its self-test, but not with outputs that are not finite', async () => {
      const spoil = (bytes: Buffer) => {
        // The logarithm of a box's width, for each cell.
        const four = Buffer.alloc(4)
        four.writeFloatLE(Math.log(4))
        for (let at = bytes.indexOf(four); at >= 0; at = bytes.indexOf(four, at)) bytes.writeFloatLE(Number.NaN, at)
        return bytes
      }
      const whole = await open(await install(addPose))
      expect(await whole.selfTest?.()).toMatchObject({ operators: { cpu: expect.any(Number) } })
      await whole.release?.()
      const spoiled = async (folder: string) => {
        await addPose(folder)
        await changeEngineFile(folder, 'pose-detector.onnx', spoil)
      }
      const broken = await open(await install(spoiled))
      await expect(broken.selfTest?.()).rejects.toMatchObject({ code: 'RESULT_REJECTED' })
      await broken.release?.()
    })

    it('does not open with graphs of another interface', async () => {
      const swapped = async (folder: string) => {
        await addPose(folder)
        await changeEngineManifest(folder, ({ models }) => {
          const [detector, keypoints] = models.slice(-2)
          ;[detector.name, keypoints.name] = [keypoints.name, detector.name]
        })
      }
      await expect(install(swapped).then(open)).rejects.toThrow('which does not match YOLOX')
    })
  })

  it('accepts a worn product', async () => {
    const engine = await open(await install(async () => {}))
    const person = await decodeImage(await readSample('persons/down-half-teal.jpg'))
    const garment = await decodeImage(await readSample('garments/tshirt-navy.jpg'))
    const worn = await decodeImage(await readSample('persons/grace-hopper.jpg'))
    const options = { seed: 1, mode: 'fast' } as const
    const found = await personIn(person)
    const draw = async (garmentHash: string, changed: Partial<EngineInput>) => {
      const input = { person, found, garment, garmentHash, category: 'tops' as const, options, ...changed }
      return (await engine.run(input, { signal: never, onProgress: () => {} })).image
    }
    expect(await draw('worn', { garment: worn })).not.toEqual(await draw('shirt', {}))
    const trousers = draw('worn', { garment: worn, category: 'bottoms' })
    await expect(trousers).rejects.toMatchObject({ code: 'MISSING_REQUIRED_CLASSIFICATION' })
    await engine.release?.()
  })

  it('is unknown without its folder', async () => {
    await expect(open(join(directory, 'nowhere'))).rejects.toThrow('Unknown engine "fashn-vton"')
  })

  it.each<[what: string, message: string | RegExp, change: (folder: string) => Promise<void>]>([
    ['a truncated file', 'transformer.weights has 1000 bytes', (at) => truncate(join(at, 'transformer.weights'), 1000)],
    [
      'a file of another SHA-256',
      /person\.onnx has the SHA-256 [0-9a-f]{64}, expected/,
      (at) => changeEngineFile(at, 'person.onnx', flipLast, { noticed: true }),
    ],
    ['a file that is missing', 'denoise.onnx is missing', (at) => rm(join(at, 'denoise.onnx'))],
    [
      'a graph that is none',
      'garment.onnx: cannot be opened on cpu',
      (at) => changeEngineFile(at, 'garment.onnx', (bytes) => bytes.subarray(0, 5000)),
    ],
    [
      'a graph with other inputs',
      'garment.onnx: has the inputs',
      (at) =>
        changeEngineManifest(at, ({ models: [, garment] }) => {
          garment.inputs[0].name = 'dress'
        }),
    ],
    [
      'a graph of other shapes',
      'modulation.onnx: has the outputs modulation vectors×1280; expected modulation vectors×7',
      (at) =>
        changeEngineManifest(at, ({ models: [, , modulation] }) => {
          modulation.outputs[0].shape[1] = 7
        }),
    ],
    [
      'no such graph',
      'has no graph "denoise"',
      (at) =>
        changeEngineManifest(at, (manifest) => {
          manifest.models.pop()
        }),
    ],
    [
      'a path that leaves its folder',
      'engine.json: files[0].path',
      (at) =>
        changeEngineManifest(at, (manifest) => {
          manifest.files[0].path = '../secret'
        }),
    ],
    [
      'a category that the network was not trained for',
      'engine.json: categories.tops',
      (at) =>
        changeEngineManifest(at, (manifest) => {
          manifest.categories.tops = 4
        }),
    ],
    [
      'another kind of engine',
      'has the interface leffa/1',
      (at) =>
        changeEngineManifest(at, (manifest) => {
          manifest.interface = 'leffa/1'
        }),
    ],
    [
      'another name',
      'is the manifest of the engine studio',
      (at) =>
        changeEngineManifest(at, (manifest) => {
          manifest.name = 'studio'
        }),
    ],
    [
      'a licence without commercial use',
      'forbids commercial use',
      (at) =>
        changeEngineManifest(at, (manifest) => {
          manifest.license = { spdx: 'CC-BY-NC-4.0', commercial: false }
        }),
    ],
  ])('is not opened with %s', async (_what, message, change) => {
    await expect(install(change).then(open)).rejects.toThrow(message)
  })

  it('fails its self-test when operators ran on another provider', async () => {
    const folder = join(await install(async () => {}), NAME)
    const manifest: FashnVtonManifest = JSON.parse(await readFile(join(folder, 'engine.json'), 'utf8'))
    const graphs = await openGraphs(folder, manifest, 'cpu')
    await expect(proveGraphs(graphs, manifest, { provider: 'cuda', conformance: DEFAULT_CONFORMANCE })).rejects.toThrow(
      /must run on cuda, but its operators ran \d+ on cpu/,
    )
    const countOperators = async () => ({ cuda: 94, cpu: 6 })
    const mixed = { ...graphs, denoise: { ...graphs.denoise, countOperators } }
    await expect(proveGraphs(mixed, manifest, { provider: 'cuda', conformance: DEFAULT_CONFORMANCE })).rejects.toThrow(
      'must run on cuda, but its operators ran 94 on cuda and 6 on cpu',
    )
    await graphs.release()
  })

  it('does not open on an unsupported or unavailable provider', async () => {
    const at = await install(async () => {})
    await expect(open(at, { provider: 'webgpu' })).rejects.toThrow('runs on cpu and cuda, not on webgpu')
    await expect(open(at, { provider: 'cuda' })).rejects.toThrow(
      /person\.onnx: cannot be opened on cuda: The library libonnxruntime_providers_shared\.so is missing/,
    )
  })
})

function flipLast(bytes: Buffer): Buffer {
  bytes[bytes.length - 1] ^= 1
  return bytes
}
