import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLog } from '../../../api/shared/telemetry/log.ts'
import { writeMarker } from '../../../worker/engines/files/marker.ts'
import { createInferenceHost, type InferenceHost } from '../../../worker/inference/host.ts'
import { AGE_MODEL } from '../../../worker/outputs/safety/age.ts'
import { copyTinyEngine } from '../../support/tiny-engine.ts'
import { until } from '../../support/until.ts'

const MODELS = resolve(import.meta.dirname, '../../../worker/models')

describe('an inference process with AGE_CHECK', () => {
  let folder: string
  let host: InferenceHost
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'drape-models-'))
    await cp(MODELS, folder, { recursive: true })
  })
  afterEach(async () => {
    await host.stop()
    await rm(folder, { recursive: true })
  })

  const start = () => {
    host = createInferenceHost({
      program: new URL('../../../worker/inference/process.ts', import.meta.url),
      env: { ENGINES: 'mock', MODEL_DIR: folder, EXECUTION_PROVIDER: 'cpu', AGE_CHECK: 'true' },
      workSeconds: 10,
      log: createLog({ process: 'worker', level: 'silent' }),
      onReady: () => {},
      onRestart: () => {},
    })
    return until(() => host.problem() ?? (host.isReady() && 'ready'))
  }

  it('is not ready without the file of the age model', async () => {
    await rm(join(folder, 'age.onnx'))
    expect(await start()).toBe(`${join(folder, 'age.onnx')}: cannot be read`)
  })

  it('is not ready if the manifest does not list the age model', async () => {
    const path = join(folder, 'manifest.json')
    const { models, ...others } = JSON.parse(await readFile(path, 'utf8'))
    const known = models.filter(({ name }: { name: string }) => name !== AGE_MODEL)
    await writeFile(path, JSON.stringify({ ...others, models: known }))
    expect(await start()).toBe(`${path}: has no model "age"`)
  })
})

describe('an inference process with DOWNLOADED_ENGINES', () => {
  it('opens each engine when its files are complete, and is ready with all of them', async () => {
    await using folder = await createFolder()
    let engines: readonly string[] = []
    const host = createInferenceHost({
      program: new URL('../../../worker/inference/process.ts', import.meta.url),
      env: {
        ENGINES: 'fashn-vton,mock',
        DOWNLOADED_ENGINES: 'fashn-vton',
        ENGINE_DIR: folder.path,
        MODEL_DIR: MODELS,
        EXECUTION_PROVIDER: 'cpu',
      },
      workSeconds: 10,
      log: createLog({ process: 'worker', level: 'silent' }),
      onReady: (_, manifests) => {
        engines = manifests.map(({ name }) => name)
      },
      onRestart: () => {},
    })
    await using _ = { [Symbol.asyncDispose]: () => host.stop() }
    await until(() => host.downloads().engines.join() === 'fashn-vton')
    const path = join(folder.path, 'fashn-vton')
    await copyTinyEngine(path)
    // The files alone are not enough: they could still be incomplete.
    expect(host.isReady()).toBe(false)
    await writeMarker(path, { seconds: 7 })
    await until(() => host.isReady())
    expect(host.problem()).toBeNull()
    expect([...engines].sort()).toEqual(['fashn-vton', 'mock'])
    expect(host.downloads()).toEqual({ engines: [], downloadSeconds: 7 })
  })
})

async function createFolder() {
  const path = await mkdtemp(join(tmpdir(), 'drape-engines-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}
