import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Drape, readSample, startDrape } from './support/drape.ts'
import { changeEngineFile, changeEngineManifest, copyTinyEngine } from './support/tiny-engine.ts'

describe('a try-on by an engine that runs out of memory', () => {
  let drape: Drape
  let folder: string

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-hungry-'))
    const engine = join(folder, 'fashn-vton')
    await copyTinyEngine(engine)
    const hungry = await readFile(new URL('fixtures/hungry/fashn-vton-person.onnx', import.meta.url))
    await changeEngineFile(engine, 'person.onnx', () => hungry)
    // Its self-test fits into memory, but draws something else.
    await changeEngineManifest(engine, (manifest) => {
      delete manifest.golden
    })
    drape = await startDrape()
    await drape.startWorker({ ENGINES: 'fashn-vton,mock', ENGINE_DIR: folder, QUEUES: 'try-on' })
  })
  afterAll(async () => {
    await drape?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const tryOn = async (engine: string) => {
    const call = {
      products: [{ title: 'T-shirt', images: [{ source: { fileKey: 'shirt' } }] }],
      person: { image: { source: { fileKey: 'me' } } },
      output: { engine, mode: 'fast' },
    }
    const me = await readSample('persons/down-half-teal.jpg')
    const shirt = await readSample('garments/tshirt-navy.jpg')
    return drape.finish(await drape.tryOn(call, { me, shirt }))
  }

  it('fails after its attempts with a refund, and the worker keeps running', async () => {
    const balance = await drape.balance()
    const result = await tryOn('fashn-vton')
    expect(result).toMatchObject({ status: 'FAILED', errorCode: 'GENERATION_FAILED' })
    expect(result).not.toHaveProperty('resultImageUrl')
    expect(await drape.balance()).toBe(balance)
    expect(await tryOn('mock')).toMatchObject({ status: 'COMPLETED' })
  })
})
