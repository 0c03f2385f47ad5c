import { createHash } from 'node:crypto'
import { copyFile, mkdtemp, readFile, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type ModelEntry, openModels, readManifest, verifyModels } from '../../../worker/inference/models.ts'

const bundled = 'worker/models'

describe('the bundled models', () => {
  it('open with the inputs and outputs of their manifest entries', async () => {
    const entries = await readManifest(bundled)
    const models = await openModels(bundled)
    for (const { name, inputs } of entries) expect(models.session(name).inputs).toEqual(inputs)
    await models.release()
  })

  it('have licenses that allow commercial use', async () => {
    for (const { license } of await readManifest(bundled)) expect(['Apache-2.0', 'MIT']).toContain(license)
  })

  it('open only the requested models', async () => {
    const models = await openModels(bundled, { names: ['pose_detection'] })
    expect(models.session('pose_detection').outputs.map(({ name }) => name)).toEqual(['boxes', 'scores'])
    expect(() => models.session('pose_landmark_heavy')).toThrow('no open model "pose_landmark_heavy"')
    await models.release()
  })
})

describe('a model folder', () => {
  let folder: string
  let entry: ModelEntry
  const file = () => join(folder, 'pose_detection.onnx')
  const writeManifest = (manifest: unknown) => writeFile(join(folder, 'manifest.json'), JSON.stringify(manifest))

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'models-'))
    entry = (await readManifest(bundled))[0]
    await copyFile(join(bundled, entry.file), file())
    await writeManifest({ models: [entry] })
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('opens when every file matches its entry', async () => {
    const models = await openModels(folder)
    expect(models.session('pose_detection').inputs).toEqual(entry.inputs)
    await models.release()
  })

  it('is verified against its manifest without opening models', async () => {
    expect(await verifyModels(folder)).toEqual({ [entry.file]: entry.sha256 })
    await writeManifest({ models: [{ ...entry, sha256: entry.sha256.replaceAll(/./g, '0') }] })
    await expect(verifyModels(folder)).rejects.toThrow(`${file()}: has the SHA-256 ${entry.sha256}, expected 000`)
    await rm(file())
    await expect(verifyModels(folder)).rejects.toThrow(`${file()}: cannot be read`)
  })

  it('is rejected when a file is missing', async () => {
    await rm(file())
    await expect(openModels(folder)).rejects.toThrow(`${file()}: cannot be read`)
  })

  it('is rejected when a file is truncated', async () => {
    await truncate(file(), 1000)
    await expect(openModels(folder)).rejects.toThrow(`${file()}: has 1000 bytes, expected ${entry.bytes}`)
  })

  it('is rejected when one byte of a file differs', async () => {
    const bytes = await readFile(file())
    bytes[3_000_000] ^= 1
    await writeFile(file(), bytes)
    await expect(openModels(folder)).rejects.toThrow(`expected ${entry.sha256}`)
  })

  it('is rejected when an input shape differs from its entry', async () => {
    await writeManifest({ models: [{ ...entry, inputs: [{ name: 'image', shape: [1, 256, 256, 3] }] }] })
    await expect(openModels(folder)).rejects.toThrow(
      `${file()}: has the inputs image 1×224×224×3; expected image 1×256×256×3`,
    )
  })

  it('is rejected when a model lacks an output of its entry', async () => {
    await writeManifest({ models: [{ ...entry, outputs: [...entry.outputs, { name: 'mask', shape: [1] }] }] })
    await expect(openModels(folder)).rejects.toThrow(`${file()}: has the outputs boxes`)
  })

  it('is rejected when a requested model is not listed', async () => {
    await expect(openModels(folder, { names: ['pose_landmark_heavy'] })).rejects.toThrow(
      'manifest.json: has no model "pose_landmark_heavy"',
    )
  })

  it('is rejected with the runtime error when a model cannot be opened on its provider', async () => {
    // Where there is no CUDA; where there is, a model that is none.
    await writeFile(file(), 'no model')
    const sha256 = createHash('sha256').update('no model').digest('hex')
    await writeManifest({ models: [{ ...entry, bytes: 8, sha256 }] })
    await expect(openModels(folder, { provider: 'cuda' })).rejects.toThrow(
      /pose_detection\.onnx: cannot be opened on cuda: .{10}/,
    )
  })

  it('is rejected when its manifest is missing, not JSON, not a list or incomplete', async () => {
    const path = join(folder, 'manifest.json')
    await writeManifest({ models: [{ ...entry, sha256: undefined }] })
    await expect(openModels(folder)).rejects.toThrow(`${path}: models[0] is incomplete`)
    await writeManifest({ models: [{ ...entry, inputs: [{ name: 'image' }] }] })
    await expect(openModels(folder)).rejects.toThrow(`${path}: models[0] is incomplete`)
    await writeManifest([])
    await expect(openModels(folder)).rejects.toThrow(`${path}: has no list "models"`)
    await writeFile(path, '{')
    await expect(openModels(folder)).rejects.toThrow(`${path}: is not JSON`)
    await rm(path)
    await expect(openModels(folder)).rejects.toThrow(`${path}: cannot be read`)
  })
})
