import { mkdtemp, readFile, rm, truncate } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { decodeImage } from '../../../../api/shared/image.ts'
import { ENGINE_STAGES } from '../../../../api/shared/stage-order.ts'
import { blendChange } from '../../../../worker/composite/blend.ts'
import { checkResult } from '../../../../worker/composite/region.ts'
import { openGraphs } from '../../../../worker/engines/catvton/graphs.ts'
import type { CatVtonManifest } from '../../../../worker/engines/catvton/manifest.ts'
import { proveGraphs } from '../../../../worker/engines/catvton/self-test.ts'
import { DEFAULT_CONFORMANCE } from '../../../../worker/engines/conformance.ts'
import type { Engine, EngineInput } from '../../../../worker/engines/engine.ts'
import { findInstalled } from '../../../../worker/engines/installed.ts'
import { createEngines } from '../../../../worker/engines/registry.ts'
import { type Models, openModels } from '../../../../worker/inference/models.ts'
import type { Provider } from '../../../../worker/inference/session.ts'
import { readSample } from '../../../support/drape.ts'
import { addParser, changeEngineFile, changeEngineManifest, copyTinyEngine } from '../../../support/tiny-engine.ts'
import { paint, wornPhoto } from '../../../support/worn-photo.ts'

const NAME = 'catvton'
const never = new AbortController().signal

describe('the engine CatVTON', () => {
  let directory: string
  let models: Models

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'drape-catvton-'))
    models = await openModels(resolve(import.meta.dirname, '../../../../worker/models'))
  })
  afterAll(async () => {
    await models?.release()
    await rm(directory, { recursive: true, force: true })
  })

  interface Opening {
    readonly provider?: Provider
    readonly acknowledged?: readonly string[]
  }

  async function open(at: string, { provider = 'cpu', acknowledged = [NAME] }: Opening = {}): Promise<Engine> {
    const known = await findInstalled([NAME], at)
    const engine = (await createEngines([NAME], { models, provider, known, acknowledged })).get(NAME)
    if (!engine) throw new Error('the engine is not there')
    return engine
  }

  /** A copy of the tiny engine, changed; resolves with the directory it is in. */
  async function install(change: (folder: string) => Promise<void> = async () => {}): Promise<string> {
    const at = await mkdtemp(join(directory, 'copy-'))
    await copyTinyEngine(join(at, NAME), NAME)
    await change(join(at, NAME))
    return at
  }

  it('opens only with its non-commercial license acknowledged', async () => {
    const at = await install()
    await expect(open(at, { acknowledged: [] })).rejects.toThrow('CC-BY-NC-SA-4.0, which forbids commercial use')
    await expect(open(at, { acknowledged: ['leffa'] })).rejects.toThrow('forbids commercial use')
    const engine = await open(at)
    expect(engine.manifest.license).toEqual({ spdx: 'CC-BY-NC-SA-4.0', commercial: false })
    await engine.release?.()
  })

  describe('with valid files', () => {
    let engine: Engine
    let input: EngineInput

    beforeAll(async () => {
      engine = await open(await install())
      const [person, garment] = await Promise.all(
        ['persons/down-half-teal.jpg', 'garments/tshirt-navy.jpg'].map(async (path) =>
          decodeImage(await readSample(path)),
        ),
      )
      const options = { seed: 1, mode: 'fast' } as const
      input = { person, garment, garmentHash: 'shirt', category: 'tops', options }
    })
    afterAll(() => engine?.release?.())

    const run = (changed: Partial<EngineInput> = {}, onProgress: (share: number) => void = () => {}) =>
      engine.run({ ...input, ...changed }, { signal: never, onProgress })

    it('passes its self-test against the golden drawing, and reports execution providers', async () => {
      expect(await engine.selfTest?.()).toMatchObject({ operators: { cpu: expect.any(Number) } })
    })

    it('draws the garment region and keeps every other byte', async () => {
      const result = await run()
      checkResult(result, input.person, null)
      const blended = blendChange({ photo: input.person, ...result })
      const different = (x: number, y: number) => {
        const at = (y * 700 + x) * 3
        return [0, 1, 2].some((c) => blended.data[at + c] !== input.person.data[at + c])
      }
      expect(different(350, 450)).toBe(true)
      for (const [x, y] of [
        [350, 200],
        [20, 20],
        [690, 860],
        [350, 850],
      ])
        expect(different(x, y), `${x} ${y}`).toBe(false)
    })

    it('repeats a result for the same input, and changes it with seed, mode or product', async () => {
      const first = (await run()).image
      expect((await run()).image).toEqual(first)
      const garment = await decodeImage(await readSample('garments/tshirt-vneck-red.jpg'))
      const others = [
        { options: { ...input.options, seed: 2 } },
        { options: { ...input.options, mode: 'balanced' } },
        { garment, garmentHash: 'red' },
      ] as const
      for (const other of others) expect((await run(other)).image).not.toEqual(first)
    })

    it('encodes a product once per hash', async () => {
      const garment = await decodeImage(await readSample('garments/tshirt-vneck-red.jpg'))
      expect((await run({ garment })).image).toEqual((await run()).image)
    })

    it('reports each step of each mode', async () => {
      const counts: number[] = []
      for (const mode of ['fast', 'balanced', 'quality'] as const) {
        const shares: number[] = []
        await run({ options: { ...input.options, mode } }, (share) => shares.push(share))
        expect(shares).toEqual(shares.toSorted((a, b) => a - b))
        counts.push(shares.length)
      }
      expect([counts[1] - counts[0], counts[2] - counts[1]]).toEqual([10, 20])
    })

    it('measures its stages in the published order', async () => {
      const names = Object.keys((await run()).timings)
      expect(names).toEqual(ENGINE_STAGES.filter((name) => names.includes(name)))
      expect(names).toEqual(expect.arrayContaining(['region', 'denoise', 'vae-decode', 'paste']))
    })

    it('stops between two steps', async () => {
      const abort = new AbortController()
      let last = 0
      const onProgress = (share: number) => {
        last = share
        if (share > 0.3) abort.abort(new Error('enough'))
      }
      await expect(engine.run(input, { signal: abort.signal, onProgress })).rejects.toThrow('enough')
      expect(last).toBeLessThan(0.4)
    })

    it('accepts photos of any aspect ratio, and warns of an enlarged result', async () => {
      const wide = await decodeImage(await readSample('persons/astronaut.jpg'))
      const result = await run({ person: wide, options: { ...input.options, fullResolution: true } })
      checkResult(result, wide, null)
      expect(result.warnings).toEqual([])
      const large = { ...input.person, width: 1400, height: 1750, data: doubled(input.person) }
      const enlarged = await run({ person: large, options: { ...input.options, fullResolution: true } })
      expect(enlarged.warnings).toEqual(['RESULT_ENLARGED'])
    })

    it('rejects a photo without a person, and a worn product', async () => {
      const blank = { ...input.person, data: new Uint8Array(input.person.data.length).fill(200) }
      await expect(run({ person: blank })).rejects.toMatchObject({ code: 'NO_PERSON_DETECTED' })
      const worn = { garment: input.person, garmentHash: 'worn' }
      await expect(run(worn)).rejects.toMatchObject({ code: 'MISSING_REQUIRED_CLASSIFICATION' })
    })
  })

  it('extracts a worn garment with a parser, whatever else is in the photo', async () => {
    const engine = await open(await install(addParser))
    expect(await engine.selfTest?.()).toMatchObject({ operators: { cpu: expect.any(Number) } })
    const person = await decodeImage(await readSample('persons/down-half-teal.jpg'))
    const draw = async (garmentHash: string, category: 'tops' | 'bottoms', corner: number) => {
      const garment = await wornPhoto(['top'])
      paint(garment, { x: 10, y: 10, width: 60, height: 60 }, [corner, corner, corner])
      const input = { person, garment, garmentHash, category, options: { seed: 1, mode: 'fast' as const } }
      return (await engine.run(input, { signal: never, onProgress: () => {} })).image
    }
    expect(await draw('light', 'tops', 250)).toEqual(await draw('dark', 'tops', 10))
    await expect(draw('light', 'bottoms', 250)).rejects.toMatchObject({ code: 'MISSING_REQUIRED_CLASSIFICATION' })
    await engine.release?.()
  })

  it.each<[what: string, message: string | RegExp, change: (folder: string) => Promise<void>]>([
    [
      'worn garments accepted and no parser to find them',
      'engine.json: accepts.garmentTypes names on_model, but there is no graph "parser"',
      (at) =>
        changeEngineManifest(at, ({ accepts }) => {
          accepts.garmentTypes.push('on_model')
        }),
    ],
    [
      'a parser of another interface',
      'which does not match the interface of a parser',
      async (at) => {
        await addParser(at)
        await changeEngineManifest(at, ({ models: all }) => {
          const [encoder, parser] = [all[0], all.at(-1)]
          Object.assign(parser, { file: encoder.file, inputs: encoder.inputs, outputs: encoder.outputs })
        })
      },
    ],
    ['a file that is cut', 'denoiser.weights has 1000 bytes', (at) => truncate(join(at, 'denoiser.weights'), 1000)],
    [
      'a file of another SHA-256',
      /decoder\.onnx has the SHA-256 [0-9a-f]{64}, expected/,
      (at) => changeEngineFile(at, 'decoder.onnx', flipLast, { noticed: true }),
    ],
    ['a file that is missing', 'encoder.weights is missing', (at) => rm(join(at, 'encoder.weights'))],
    [
      'a graph that is none',
      'encoder.onnx: cannot be opened on cpu',
      (at) => changeEngineFile(at, 'encoder.onnx', (bytes) => bytes.subarray(0, 5000)),
    ],
    [
      'a graph whose tensors have other names',
      'denoiser.onnx: has the inputs',
      (at) =>
        changeEngineManifest(at, ({ models: [, denoiser] }) => {
          denoiser.inputs[0].name = 'latents'
        }),
    ],
    [
      'a graph of other shapes',
      'decoder.onnx: has the outputs picture pictures×3×96×64; expected picture pictures×3×96×65',
      (at) =>
        changeEngineManifest(at, ({ models: [, , decoder] }) => {
          decoder.outputs[0].shape[3] = 65
        }),
    ],
    [
      'a sampler that it does not know',
      'engine.json: sampling.solver',
      (at) =>
        changeEngineManifest(at, ({ sampling }) => {
          sampling.solver = 'euler'
        }),
    ],
    [
      'another name',
      'is the manifest of the engine leffa',
      (at) =>
        changeEngineManifest(at, (manifest) => {
          manifest.name = 'leffa'
        }),
    ],
  ])('is not opened with %s', async (_what, message, change) => {
    await expect(install(change).then(open)).rejects.toThrow(message)
  })

  it.each<[what: string, message: RegExp, change: (folder: string) => Promise<void>]>([
    [
      'other weights than were exported',
      /differs from the golden drawing of its export by \d+\.\d %/,
      (at) => changeEngineFile(at, 'decoder.weights', (bytes) => shrinkFloats(bytes, 0.9)),
    ],
    [
      'weights that are no numbers',
      /values that are not numbers/,
      (at) => changeEngineFile(at, 'decoder.weights', (bytes) => shrinkFloats(bytes, Number.NaN)),
    ],
    [
      'a canvas that its graphs do not have',
      /Got invalid dimensions for input/,
      (at) =>
        changeEngineManifest(at, ({ size }) => {
          size.width = 128
        }),
    ],
  ])('is not proven with %s', async (_what, message, change) => {
    const engine = await open(await install(change))
    await expect(engine.selfTest?.()).rejects.toThrow(message)
    await engine.release?.()
  })

  it('fails its self-test when operators ran on another provider', async () => {
    const folder = join(await install(), NAME)
    const manifest: CatVtonManifest = JSON.parse(await readFile(join(folder, 'engine.json'), 'utf8'))
    const graphs = await openGraphs(folder, manifest, { provider: 'cpu' })
    await expect(proveGraphs(graphs, manifest, { provider: 'cuda', conformance: DEFAULT_CONFORMANCE })).rejects.toThrow(
      /must run on cuda, but its operators ran/,
    )
    await graphs.release()
  })

  it('does not open on an unsupported or unavailable provider', async () => {
    const at = await install()
    await expect(open(at, { provider: 'webgpu' })).rejects.toThrow('runs on cpu and cuda, not on webgpu')
    await expect(open(at, { provider: 'cuda' })).rejects.toThrow(
      /encoder\.onnx: cannot be opened on cuda: .*shared library/,
    )
  })
})

function flipLast(bytes: Buffer): Buffer {
  bytes[bytes.length - 1] ^= 1
  return bytes
}

/** Every number of a file of 32-bit floats times a factor. */
function shrinkFloats(bytes: Buffer, factor: number): Buffer {
  for (let at = 0; at < bytes.length; at += 4) bytes.writeFloatLE(bytes.readFloatLE(at) * factor, at)
  return bytes
}

/** The pixels of an image at twice its width and height. */
function doubled({ width, height, data }: { width: number; height: number; data: Uint8Array }): Uint8Array {
  const out = new Uint8Array(data.length * 4)
  for (let y = 0, to = 0; y < 2 * height; y++) {
    for (let x = 0; x < 2 * width; x++) {
      const from = ((y >> 1) * width + (x >> 1)) * 3
      for (let c = 0; c < 3; c++, to++) out[to] = data[from + c]
    }
  }
  return out
}
